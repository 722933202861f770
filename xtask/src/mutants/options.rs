//! The arguments of `cargo xtask mutants`.

use anyhow::{Context as _, Result, bail};

/// The options of one run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options<'a> {
    pub(super) areas: Vec<&'a str>,
    /// Try only so many, drawn at random.
    pub(super) sample: Option<usize>,
    pub(super) seed: u64,
    /// Try only the mutants that the last run missed.
    pub(super) missed: bool,
    /// Print the mutants and try none.
    pub(super) list: bool,
}

impl<'a> Options<'a> {
    pub(super) fn read(arguments: &[&'a str]) -> Result<Self> {
        let mut options =
            Self { areas: Vec::new(), sample: None, seed: 1, missed: false, list: false };
        let mut arguments = arguments.iter().copied();
        while let Some(argument) = arguments.next() {
            let mut number = || {
                let value = arguments.next().context(format!("`{argument}` needs a number"))?;
                value.parse::<u64>().with_context(|| format!("`{argument} {value}`: no number"))
            };
            match argument {
                "--sample" => options.sample = Some(usize::try_from(number()?)?),
                "--seed" => options.seed = number()?,
                "--missed" => options.missed = true,
                "--list" => options.list = true,
                _ if argument.starts_with('-') => {
                    bail!("`{argument}` is no option of mutants; see `cargo xtask help`")
                }
                area => {
                    options.areas.push(area.trim_end_matches('/').trim_start_matches("crates/"));
                }
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_and_options_come_in_any_order() {
        let options =
            Options::read(&["--sample", "5", "crates/a/src/", "--seed", "7", "b", "--missed"]);
        let areas = vec!["a/src", "b"];
        let expected = Options { areas, sample: Some(5), seed: 7, missed: true, list: false };
        assert_eq!(options.unwrap(), expected);
    }

    #[test]
    fn what_is_no_option_or_number_is_named() {
        let error = |arguments: &[&str]| Options::read(arguments).unwrap_err().to_string();
        assert!(error(&["--fast"]).contains("`--fast` is no option"));
        assert_eq!(error(&["--sample"]), "`--sample` needs a number");
        assert_eq!(error(&["--seed", "x"]), "`--seed x`: no number");
    }
}
