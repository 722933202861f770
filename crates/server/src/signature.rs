//! What a handler's parameters and result say about it.
//!
//! Every extractor and every result type adds its part when the handler is registered. From this
//! come the schemas that clients see, the capabilities that the server declares, and the check
//! that no state is missing: all of it once, none of it per call.

use std::any::{TypeId, type_name};

use schemars::JsonSchema;

use crate::schema::{self, InputSchema, OutputSchema};

/// What a handler's parameters and result say about it.
#[derive(Debug, Default)]
pub struct Signature {
    input: Option<InputSchema>,
    output: Option<OutputSchema>,
    states: Vec<NeededState>,
    logs: bool,
    lingers: bool,
    problem: Option<String>,
}

/// A type of state that a handler takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NeededState {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
}

impl Signature {
    /// The handler takes the arguments of its calls as this type.
    pub fn takes_arguments<T: JsonSchema>(&mut self) {
        if self.input.is_some() {
            self.problem = Some("takes `Args` twice; put all arguments into one struct".to_owned());
        }
        match schema::input::<T>() {
            Ok(input) => self.input = Some(input),
            Err(reason) => {
                let name = type_name::<T>();
                self.problem = Some(format!("takes `Args<{name}>`, but {reason}"));
            }
        }
    }

    /// The handler gives results of this type to programs.
    pub fn gives_output<T: JsonSchema>(&mut self) {
        self.output = Some(schema::output::<T>());
    }

    /// The handler needs this state, which the server must have been given.
    pub fn needs_state<T: 'static>(&mut self) {
        self.states.push(NeededState { id: TypeId::of::<T>(), name: type_name::<T>() });
    }

    /// The handler may send log messages.
    pub fn may_log(&mut self) {
        self.logs = true;
    }

    /// The handler goes on for a while after its call was cancelled.
    pub fn may_linger(&mut self) {
        self.lingers = true;
    }

    pub(crate) fn input(&self) -> Option<&InputSchema> {
        self.input.as_ref()
    }

    pub(crate) fn output(&self) -> Option<&OutputSchema> {
        self.output.as_ref()
    }

    pub(crate) fn states(&self) -> &[NeededState] {
        &self.states
    }

    pub(crate) fn logs(&self) -> bool {
        self.logs
    }

    pub(crate) fn lingers(&self) -> bool {
        self.lingers
    }

    /// What is wrong with the handler as such.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }
}
