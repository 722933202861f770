//! Lines on two logarithmic axes, as SVG that is readable on light and dark backgrounds.

use std::fmt::Write as _;

/// One plot.
pub(crate) struct Plot {
    pub(crate) title: String,
    pub(crate) across: &'static str,
    pub(crate) up: &'static str,
    pub(crate) lines: Vec<Line>,
}

/// One subject in it.
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 130.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 56.0;

/// Colours of middle brightness, readable on both.
const COLOURS: &[&str] = &["#8b949e", "#2f81f7", "#db6d28", "#3fb950", "#a371f7"];
const TEXT: &str = "#848d97";
const GRID: &str = "#848d97";

impl Plot {
    /// The whole document; nothing, if there are no points.
    pub(crate) fn svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let (Some(across), Some(up)) = (
            Axis::of(points().map(|point| point.0)),
            Axis::of_decades(points().map(|point| point.1)),
        ) else {
            return String::new();
        };
        let mut svg = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            svg,
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="system-ui, sans-serif" font-size="13" fill="{TEXT}">"#
        );
        let _ = writeln!(
            svg,
            r#"<title>{0}</title><text x="{LEFT}" y="24" font-size="16" font-weight="600">{0}</text>"#,
            self.title
        );
        self.draw_grid(&mut svg, &across, &up);
        for (number, line) in self.lines.iter().enumerate() {
            line.draw(&mut svg, COLOURS[number % COLOURS.len()], &across, &up);
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn draw_grid(&self, svg: &mut String, across: &Axis, up: &Axis) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for value in across.marks() {
            let x = horizontal(across, value);
            let _ = writeln!(
                svg,
                r#"<path d="M{x:.1} {TOP}V{bottom}" stroke="{GRID}" stroke-opacity="0.25"/><text x="{x:.1}" y="{}" text-anchor="middle">{}</text>"#,
                bottom + 18.0,
                short(value)
            );
        }
        for value in up.marks() {
            let y = vertical(up, value);
            let _ = writeln!(
                svg,
                r#"<path d="M{LEFT} {y:.1}H{right}" stroke="{GRID}" stroke-opacity="0.25"/><text x="{}" y="{:.1}" text-anchor="end">{}</text>"#,
                LEFT - 8.0,
                y + 4.0,
                short(value)
            );
        }
        let (middle, height) = (f64::midpoint(LEFT, right), f64::midpoint(TOP, bottom));
        let _ = writeln!(
            svg,
            r#"<text x="{middle}" y="{}" text-anchor="middle">{}</text><text transform="translate(20 {height}) rotate(-90)" text-anchor="middle">{}</text>"#,
            HEIGHT - 12.0,
            self.across,
            self.up
        );
    }
}

impl Line {
    fn draw(&self, svg: &mut String, colour: &str, across: &Axis, up: &Axis) {
        let places = self.points.iter().map(|(x, y)| (horizontal(across, *x), vertical(up, *y)));
        let places: Vec<(f64, f64)> = places.collect();
        let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            svg,
            r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2.5"/>"#,
            path.join(" ")
        );
        for (x, y) in &places {
            let _ = writeln!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.5" fill="{colour}"/>"#);
        }
        if let Some((x, y)) = places.last() {
            let _ = writeln!(
                svg,
                r#"<text x="{:.1}" y="{:.1}" fill="{colour}" font-weight="600">{}</text>"#,
                x + 10.0,
                y + 4.0,
                self.name
            );
        }
    }
}

/// A logarithmic axis.
struct Axis {
    least: f64,
    most: f64,
    /// The ratio of a mark to the one before.
    step: f64,
}

impl Axis {
    /// From the first to the last value, by fours.
    fn of(values: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let least = values.clone().min_by(f64::total_cmp)?;
        let most = values.max_by(f64::total_cmp)?;
        Some(Self { least, most: most.max(least * 2.0), step: 4.0 })
    }

    /// From a power of ten to a power of ten.
    fn of_decades(values: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let axis = Self::of(values.filter(|value| *value > 0.0))?;
        let least = 10f64.powf(axis.least.log10().floor());
        let most = 10f64.powf(axis.most.log10().ceil());
        Some(Self { least, most: most.max(least * 10.0), step: 10.0 })
    }

    fn marks(&self) -> impl Iterator<Item = f64> {
        let (step, most) = (self.step, self.most * 1.001);
        std::iter::successors(Some(self.least), move |value| Some(value * step))
            .take_while(move |value| *value <= most)
    }

    /// The position of a value, from 0 to 1.
    fn place(&self, value: f64) -> f64 {
        (value / self.least).ln() / (self.most / self.least).ln()
    }
}

fn horizontal(axis: &Axis, value: f64) -> f64 {
    LEFT + axis.place(value) * (WIDTH - LEFT - RIGHT)
}

fn vertical(axis: &Axis, value: f64) -> f64 {
    HEIGHT - BOTTOM - axis.place(value) * (HEIGHT - TOP - BOTTOM)
}

/// A number as short as it can be.
fn short(value: f64) -> String {
    match value {
        0.0..1000.0 => format!("{value:.0}"),
        1000.0..1e6 => format!("{:.0} k", value / 1e3),
        _ => format!("{:.0} M", value / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_factors_are_equal_distances() {
        let axis = Axis { least: 1.0, most: 100.0, step: 10.0 };
        assert!((axis.place(10.0) - 0.5).abs() < 1e-9);
        assert_eq!(axis.marks().collect::<Vec<_>>(), [1.0, 10.0, 100.0]);
    }

    #[test]
    fn a_plot_without_points_is_nothing() {
        let plot = Plot { title: "a".to_owned(), across: "x", up: "y", lines: Vec::new() };
        assert_eq!(plot.svg(), "");
    }
}
