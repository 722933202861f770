//! What a load needs.

use std::fmt;

use crate::{Load, cost};

/// What a load needs. Rates are per second.
#[derive(Debug)]
pub(crate) struct Plan {
    load: Load,
    requests: f64,
    /// Operations of the store: of requests, of events, of GET streams.
    reads: f64,
    appends: f64,
    redis_bytes: f64,
    replica_bytes: f64,
    cells: f64,
}

impl Plan {
    pub(crate) fn new(load: &Load) -> Self {
        let requests = load.sessions * load.requests / 60.0;
        let streams = requests * load.streaming;
        let listeners = load.sessions * load.listening;
        let notifications = listeners * load.notifications / 3600.0;
        let upkeep = listeners * cost::UPKEEP / cost::UPKEEP_SECONDS;
        // Half of the operations of a GET event, and of upkeep, append; the others renew.
        let both = (notifications * cost::GET_EVENT + upkeep) / 2.0;
        let logs = streams * cost::LOG_SECONDS * load.events / cost::LOG_EVENTS;
        // A request makes a copy, or finds one; it lasts until no request has come for a while.
        let copied = (load.requests * cost::COPY_SECONDS / 60.0).min(1.0);
        Self {
            requests,
            reads: requests * cost::REQUEST + both,
            appends: streams * load.events * cost::EVENT + both,
            redis_bytes: load.sessions * cost::RECORD_BYTES
                + logs * cost::LOG_BYTES
                + listeners * cost::GET_LOG_BYTES,
            replica_bytes: load.sessions * copied * cost::COPY_BYTES
                + listeners * (cost::COPY_BYTES + cost::STREAM_BYTES),
            cells: (load.sessions / load.cell).ceil().max(1.0),
            load: load.clone(),
        }
    }

    fn operations(&self) -> f64 {
        self.reads + self.appends
    }

    /// Primaries of a cell.
    fn primaries(&self) -> f64 {
        let microseconds =
            self.reads * cost::RENEW_MICROSECONDS + self.appends * cost::APPEND_MICROSECONDS;
        (microseconds / 1e6 / cost::USED / self.cells).ceil().max(1.0)
    }

    /// Replicas of a cell: as many as its streams need, or its requests.
    fn replicas(&self) -> f64 {
        let streams = self.load.sessions * self.load.listening / cost::STREAMS;
        let requests = self.requests / (cost::REQUESTS * cost::SHARE_WITH_REDIS * cost::USED);
        (streams.max(requests) / self.cells).ceil().max(2.0)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cells, primaries, replicas) = (self.cells, self.primaries(), self.replicas());
        let (each, machine) = (1.0 / cells, 1.0 / cells / replicas);
        let rows = [
            ("sessions", count(self.load.sessions), count(self.load.sessions * each)),
            ("requests/s", count(self.requests), count(self.requests * each)),
            ("operations of Redis/s", count(self.operations()), count(self.operations() * each)),
            ("memory of Redis", bytes(self.redis_bytes), bytes(self.redis_bytes * each)),
            ("memory of replicas", bytes(self.replica_bytes), bytes(self.replica_bytes * each)),
            ("primaries of Redis", count(primaries * cells), count(primaries)),
            ("replicas", count(replicas * cells), count(replicas)),
        ];
        writeln!(f, "{:<24}{:>14}{:>14}", "", format!("{cells} cells"), "one cell")?;
        for (name, all, one) in rows {
            writeln!(f, "{name:<24}{all:>14}{one:>14}")?;
        }
        writeln!(
            f,
            "one replica: {} streams, {} requests/s, {}",
            count(self.load.sessions * self.load.listening * machine),
            count(self.requests * machine),
            bytes(self.replica_bytes * machine)
        )
    }
}

/// A number with its thousands apart, rounded to three digits.
fn count(value: f64) -> String {
    let digits = format!("{:.0}", rounded(value));
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn bytes(value: f64) -> String {
    let gigabytes = rounded(value) / 1e9;
    match gigabytes >= 10.0 {
        true => format!("{gigabytes:.0} GB"),
        false => format!("{gigabytes:.2} GB"),
    }
}

/// To three digits: the figures are not more exact than that.
fn rounded(value: f64) -> f64 {
    if value < 1000.0 {
        return value.round();
    }
    let unit = 10_f64.powf(value.log10().floor() - 2.0);
    (value / unit).round() * unit
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn plan(arguments: &[&str]) -> Plan {
        Plan::new(&Load::parse_from([&["scale-model"], arguments].concat()))
    }

    #[test]
    fn the_document_shows_what_the_program_prints() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scale.md");
        let page = std::fs::read_to_string(path).unwrap();
        for line in page.lines().filter_map(|line| line.strip_prefix("$ cargo run -p scale-model"))
        {
            let arguments: Vec<_> = line.split_whitespace().skip(1).collect();
            let shown = format!("$ cargo run -p scale-model{line}\n{}```", plan(&arguments));
            assert!(page.contains(&shown), "docs/scale.md should show:\n{shown}");
        }
        assert!(page.contains("$ cargo run -p scale-model"));
    }

    #[test]
    fn a_load_without_streams_needs_one_operation_for_each_request() {
        let plan = plan(&["--streaming", "0", "--listening", "0"]);
        assert!((plan.operations() - plan.requests).abs() < 1e-6, "{plan:?}");
    }

    #[test]
    fn twice_the_sessions_cost_twice_as_much() {
        let (one, two) = (plan(&["--sessions", "4000000"]), plan(&["--sessions", "8000000"]));
        for (one, two) in [
            (one.requests, two.requests),
            (one.operations(), two.operations()),
            (one.redis_bytes, two.redis_bytes),
            (one.replica_bytes, two.replica_bytes),
            (one.cells, two.cells),
        ] {
            assert!((two / one - 2.0).abs() < 1e-9, "{one} {two}");
        }
        assert_eq!((one.primaries(), one.replicas()), (two.primaries(), two.replicas()));
    }

    #[test]
    fn figures_are_short_to_read() {
        assert_eq!(count(166_666.7), "167,000");
        assert_eq!(count(12.4), "12");
        assert_eq!((bytes(1.104e11), bytes(5.6e8)), ("110 GB".to_owned(), "0.56 GB".to_owned()));
    }
}
