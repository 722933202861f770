//! Runs a case a number of times: `hot_paths CASE ITERATIONS`; without arguments, lists the cases.

#![allow(clippy::print_stdout, reason = "the list is its output")]

use std::error::Error;

use bowline_hot_paths::{CASES, Case};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [] => {
            for Case { name, what, .. } in CASES {
                println!("{name}\t{what}");
            }
        }
        [name, iterations] => {
            let case = Case::named(name).ok_or_else(|| format!("there is no case `{name}`"))?;
            let iterations: u64 = iterations.parse()?;
            let mut run = case.prepare();
            (0..iterations).for_each(|_| run());
        }
        _ => Err("say what to run how often: `hot_paths CASE ITERATIONS`")?,
    }
    Ok(())
}
