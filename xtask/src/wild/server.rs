//! The servers that are tried, from `servers.json`: popular ones first.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value};

/// A server of a registry, in one version.
pub(crate) struct Server {
    /// How the tables name it.
    pub(crate) name: String,
    pub(crate) registry: Registry,
    /// The package with its version, as the registry's installer takes it.
    pub(crate) package: String,
    /// The program that the package installs.
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    /// Dummy keys and addresses, without which the server does not start.
    pub(crate) variables: BTreeMap<String, String>,
    /// Tools that depend on what the client declares, so that a bridge lists others, with the reason.
    pub(crate) conditional: BTreeMap<String, String>,
    /// A harmless call: the tool, and its arguments as JSON.
    pub(crate) call: Option<(String, Value)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Registry {
    Npm,
    Pypi,
}

impl Registry {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pypi => "PyPI",
        }
    }
}

/// All servers, in the order of the file.
pub(crate) fn all() -> Result<Vec<Server>> {
    let rows: Vec<Map<String, Value>> = serde_json::from_str(include_str!("servers.json"))?;
    rows.iter().map(|row| read(row).with_context(|| format!("servers.json: {row:?}"))).collect()
}

/// The names, one in each line.
pub(crate) fn names(servers: &[Server]) -> String {
    servers.iter().map(|server| format!("{}  {}\n", server.name, server.package)).collect()
}

fn read(row: &Map<String, Value>) -> Result<Server> {
    let text = |key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
    let (registry, package) = match (text("npm"), text("pypi")) {
        (Some(package), None) => (Registry::Npm, package),
        (None, Some(package)) => (Registry::Pypi, package),
        _ => anyhow::bail!("expected either `npm` or `pypi`"),
    };
    let arguments = row.get("args").and_then(Value::as_array).into_iter().flatten();
    let as_text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let texts = |key: &str| {
        let members = row.get(key).and_then(Value::as_object).into_iter().flatten();
        members.map(|(name, value)| (name.clone(), as_text(value))).collect()
    };
    Ok(Server {
        name: text("name").context("expected `name`")?,
        registry,
        package,
        program: text("program").context("expected `program`")?,
        arguments: arguments.map(as_text).collect(),
        variables: texts("env"),
        conditional: texts("conditional"),
        call: row.get("call").and_then(call),
    })
}

/// `{"tool": {"argument": "value"}}`
fn call(value: &Value) -> Option<(String, Value)> {
    let (tool, arguments) = value.as_object()?.iter().next()?;
    Some((tool.clone(), arguments.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_is_pinned_and_has_a_name_of_its_own() {
        let servers = all().unwrap();
        assert!(servers.len() >= 40, "{} servers", servers.len());
        for (index, server) in servers.iter().enumerate() {
            let mark = if server.registry == Registry::Npm { "@" } else { "==" };
            let version = server.package.rsplit_once(mark).map_or("", |(_, version)| version);
            assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{}", server.package);
            assert!(servers[..index].iter().all(|it| it.name != server.name), "{}", server.name);
        }
    }
}
