//! The capability to run requests as tasks, as 2025-11-25 declares it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::declared::{declared, lacking};
use crate::json::Object;
use crate::method::Method;
use crate::setters::setters;

/// The requests that one side can run as tasks, and the task methods that it supports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TasksCapability {
    /// The side answers `tasks/list`.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub list: Option<Object>,
    /// The side answers `tasks/cancel`.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub cancel: Option<Object>,
    /// The methods that can run as tasks, by name. On the wire each is split at its slash:
    /// `{"tools": {"call": {}}}`.
    #[serde(default, with = "methods", skip_serializing_if = "BTreeMap::is_empty")]
    pub requests: BTreeMap<String, Object>,
}

impl TasksCapability {
    /// No request can run as a task.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Declares `tasks/list`.
        with_list() { list.get_or_insert_default() }

        /// Declares `tasks/cancel`.
        with_cancel() { cancel.get_or_insert_default() }
    }

    /// Declares that requests of a method can run as tasks.
    #[must_use]
    pub fn with_request(mut self, method: Method) -> Self {
        if method.name().contains('/') {
            self.requests.entry(method.name().to_owned()).or_default();
        }
        self
    }

    /// Whether requests of a method can run as tasks.
    pub fn supports_request(&self, method: Method) -> bool {
        self.requests.contains_key(method.name())
    }

    /// The part of this capability that `there` lacks.
    pub(super) fn lacking(&self, there: Option<&Self>) -> Option<Self> {
        let Some(there) = there else { return Some(self.clone()) };
        let missing = Self {
            list: self.list.clone().filter(|_| there.list.is_none()),
            cancel: self.cancel.clone().filter(|_| there.cancel.is_none()),
            requests: lacking(&there.requests, &self.requests),
        };
        (missing != Self::default()).then_some(missing)
    }
}

/// Serde functions for methods that are split at their slash on the wire.
mod methods {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::super::declared::declaration;
    use crate::json::{Object, RawJson};
    use crate::member::any_members;

    pub(super) fn serialize<S: Serializer>(
        methods: &BTreeMap<String, Object>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        // The names are sorted, so the methods of an area are adjacent.
        let split = methods.iter().filter_map(|(name, it)| Some((name.split_once('/')?, it)));
        let methods: Vec<_> = split.collect();
        let areas = methods.chunk_by(|((one, _), _), ((other, _), _)| one == other);
        serializer.collect_map(areas.filter_map(|area| Some((area.first()?.0.0, Area(area)))))
    }

    /// The methods of one area, such as `tools`.
    struct Area<'a>(&'a [((&'a str, &'a str), &'a Object)]);

    impl Serialize for Area<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map(self.0.iter().map(|((_, name), settings)| (name, settings)))
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, Object>, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(transparent)]
        struct Area(#[serde(deserialize_with = "any_members")] BTreeMap<String, RawJson>);

        let mut methods = BTreeMap::new();
        for (area, declared) in any_members(deserializer)? {
            // Ignores members of other shapes, which later revisions may add.
            let Ok(Some(Area(names))) = declaration(&declared) else { continue };
            for (name, declared) in names {
                if let Ok(Some(settings)) = declaration(&declared) {
                    methods.insert(format!("{area}/{name}"), settings);
                }
            }
        }
        Ok(methods)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_methods_that_are_named_may_become_tasks() {
        let text = r#"{"list":{},"requests":{"tools":{"call":{}}}}"#;
        let read: TasksCapability = serde_json::from_str(text).unwrap();
        assert_eq!(read, TasksCapability::new().with_list().with_request(Method::ToolsCall));
        assert!(read.supports_request(Method::ToolsCall));
        assert!(!read.supports_request(Method::SamplingCreateMessage));
        assert!(!read.supports_request(Method::Ping));
        assert!(read.list.is_some() && read.cancel.is_none());
    }

    #[test]
    fn what_is_missing_is_named_down_to_the_method() {
        let there = TasksCapability::new().with_cancel().with_request(Method::ElicitationCreate);
        let wanted = there.clone().with_list().with_request(Method::SamplingCreateMessage);
        let missing =
            TasksCapability::new().with_list().with_request(Method::SamplingCreateMessage);
        assert_eq!(wanted.lacking(Some(&there)), Some(missing));
        assert_eq!(there.lacking(Some(&wanted)), None);
        assert_eq!(wanted.lacking(None), Some(wanted));
    }
}
