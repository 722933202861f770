//! What becomes of the answers to questions.

use std::collections::{HashMap, HashSet};

use super::{Checker, Rule, is_repeated, of};
use crate::ledger::{Call, End, Message};

impl Checker<'_> {
    /// The questions of a call, without those whose id was seen before, count from 1.
    pub(super) fn questions(&mut self, call: &Call) {
        let mut ids = HashSet::new();
        let mut last = 0;
        for seen in &call.seen {
            let Message::Question(question) = &seen.message else { continue };
            let is_new = seen.id.as_ref().is_none_or(|id| ids.insert(id));
            if !is_new || is_repeated(call, seen) {
                continue;
            }
            if question.nonce != call.nonce || question.number != last + 1 {
                let text = format!("{question:?} after {last}: {}", of(call));
                self.report(Rule::QuestionsInOrder, text);
            }
            last = question.number;
        }
        if call.end == End::Answered && last != call.questions {
            let text = format!("{last} questions of {}: {}", call.questions, of(call));
            self.report(Rule::QuestionsInOrder, text);
        }
    }

    /// A tool uses answers at most once, exactly once if its call is answered, and as they were
    /// given.
    pub(super) fn effects(&mut self) {
        let mut effects = HashMap::new();
        for effect in &self.ledger.effects {
            if let Some(first) = effects.insert(effect.nonce, &effect.answers) {
                let text = format!("{} used {first} and {}", effect.nonce, effect.answers);
                self.report(Rule::AnswersUsedOnce, text);
            }
        }
        for call in self.ledger.calls.iter().filter(|call| call.questions > 0) {
            let used = effects.get(&call.nonce).map(|used| used.as_str());
            let is_right = match used {
                Some(used) => used == given(call),
                None => call.end != End::Answered,
            };
            if !is_right {
                let text = format!("used {used:?}, given {}: {}", given(call), of(call));
                self.report(Rule::AnswersUsedOnce, text);
            }
        }
    }
}

/// The answers that a client gave, as the tool returns them.
pub(super) fn given(call: &Call) -> String {
    let values: Vec<_> = call.given.iter().map(|given| given.value.to_string()).collect();
    values.join(",")
}
