//! The memory of a process and its children.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// The resident memory of a process and all its descendants in bytes, without those that run the
/// server.
pub(crate) fn of_tree(root: u32, server: &Path) -> f64 {
    let children = children();
    let mut sum = 0.0;
    let mut open = vec![root];
    while let Some(process) = open.pop() {
        let is_server = fs::read_link(format!("/proc/{process}/exe")).is_ok_and(|it| it == server);
        if !is_server {
            sum += resident(process).unwrap_or(0.0);
        }
        open.extend(children.get(&process).into_iter().flatten());
    }
    sum
}

/// All processes of the machine, by their parents.
fn children() -> HashMap<u32, Vec<u32>> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    for process in entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()) {
        if let Some(parent) = field(process, "PPid:").and_then(|text| text.parse().ok()) {
            children.entry(parent).or_default().push(process);
        }
    }
    children
}

fn resident(process: u32) -> Option<f64> {
    let text = field(process, "VmRSS:")?;
    Some(text.strip_suffix(" kB")?.parse::<f64>().ok()? * 1024.0)
}

fn field(process: u32, name: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().to_owned())
}
