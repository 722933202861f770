//! One field of a form at the terminal: its type, its options, its default.

use bowline_ops::schema::JsonMembers;
use bowline_types::elicitation::schema::{
    FieldKind, FormField, FormSchema, MultiSelectSchema, SelectOption, SelectSchema,
};
use bowline_types::json::{Object, RawJson};

use crate::exit::Failure;
use crate::print::table::wrap;
use crate::print::{self, TerminalText, line, paragraph};
use crate::terminal::{self, TypedLine};

/// The choice that leaves an optional field out.
const SKIP: &str = "(leave out)";

/// A field, and what is known of its answer.
pub(super) struct Asked<'a> {
    pub(super) name: &'a str,
    pub(super) field: &'a FormField,
    pub(super) is_required: bool,
    /// The user's answer in the round before.
    pub(super) before: Option<&'a RawJson>,
}

/// Asks for one field; `None` if the user leaves it out.
///
/// # Errors
///
/// If the user cannot be asked.
pub(super) fn ask(asked: &Asked<'_>) -> Result<Option<RawJson>, Failure> {
    asked.describe();
    match &asked.field.kind {
        FieldKind::String(schema) => {
            asked.text(schema.default.clone(), |text| RawJson::from_value(text).map_err(line))
        }
        FieldKind::Number(schema) | FieldKind::Integer(schema) => {
            asked.text(schema.default.as_ref().map(ToString::to_string), number)
        }
        FieldKind::Boolean(schema) => asked.boolean(schema.default),
        FieldKind::Select(schema) => asked.select(schema),
        FieldKind::MultiSelect(schema) => asked.multi_select(schema),
        _ => asked.text(None, |text| {
            RawJson::from_text(text).map_err(|_| "expected JSON, such as \"text\"".into())
        }),
    }
}

fn number(text: &str) -> Result<RawJson, TerminalText> {
    let json = RawJson::from_text(text.trim()).ok();
    let is_number =
        |json: &RawJson| json.as_str().starts_with(|c: char| c == '-' || c.is_ascii_digit());
    json.filter(is_number).ok_or_else(|| "expected a number".into())
}

impl Asked<'_> {
    /// Prints what the field is for. The prompt itself stays short: a prompt that is wider than
    /// the terminal is not erased whole, and would be shown twice.
    fn describe(&self) {
        let Some(about) = &self.field.description else { return };
        let width = usize::from(print::errors_size().1.unwrap_or(80)).max(20);
        print::note(TerminalText::joined(wrap(&paragraph(about), width), "\n"));
    }

    /// The question: the title or name.
    fn prompt(&self) -> TerminalText {
        let name = self.field.title.as_deref().unwrap_or(self.name);
        let mark = if self.is_required { "" } else { ", optional" };
        paragraph(name) + mark
    }

    fn text(
        &self,
        default: Option<String>,
        read: impl Fn(&str) -> Result<RawJson, TerminalText>,
    ) -> Result<Option<RawJson>, Failure> {
        let check = |text: &str| match text.is_empty() && !self.is_required {
            true => Ok(()),
            false => read(text).and_then(|value| self.check(&value)),
        };
        let default = self.before.map(plain).or(default);
        let typed = TypedLine { prompt: &self.prompt(), default, may_be_empty: !self.is_required };
        let text = typed.ask(check)?;
        Ok(read(&text).ok().filter(|_| !text.is_empty()))
    }

    /// Whether the form allows this value.
    fn check(&self, value: &RawJson) -> Result<(), TerminalText> {
        let form = FormSchema::new().with_required(self.name, self.field.clone());
        let mut content = JsonMembers::default();
        content.set(self.name, value.clone());
        let content = Object::new(RawJson::from_value(&content).unwrap_or_default());
        let checked = form.check(&content.unwrap_or_default());
        checked.map(|_| ()).map_err(line)
    }

    fn boolean(&self, default: Option<bool>) -> Result<Option<RawJson>, Failure> {
        let default = self.before.map(|it| it.as_str() == "true").or(default);
        let default = default.map(|it| usize::from(!it));
        let chosen = self.choose(vec!["yes".into(), "no".into()], default)?;
        Ok(chosen.map(|at| RawJson::from_value(&(at == 0)).unwrap_or_default()))
    }

    fn select(&self, schema: &SelectSchema) -> Result<Option<RawJson>, Failure> {
        let default = self.before.map(plain).or_else(|| schema.default.clone());
        let default = schema.options.iter().position(|it| Some(&it.value) == default.as_ref());
        let chosen = self.choose(names(&schema.options), default)?;
        let value = |at: usize| RawJson::from_value(&schema.options[at].value).unwrap_or_default();
        Ok(chosen.map(value))
    }

    fn multi_select(&self, schema: &MultiSelectSchema) -> Result<Option<RawJson>, Failure> {
        let before = self.before.and_then(|it| it.parse().ok());
        let default: Vec<String> = before.or_else(|| schema.default.clone()).unwrap_or_default();
        let marked: Vec<bool> =
            schema.options.iter().map(|it| default.contains(&it.value)).collect();
        print::note("Space marks, Enter ends.");
        let chosen = terminal::mark(&self.prompt(), &names(&schema.options), &marked)?;
        let values: Vec<&str> =
            chosen.into_iter().map(|at| schema.options[at].value.as_str()).collect();
        let is_left_out = values.is_empty() && !self.is_required;
        Ok((!is_left_out).then(|| RawJson::from_value(&values).unwrap_or_default()))
    }

    /// Lets the user choose one item, or none if the field is optional.
    fn choose(
        &self,
        mut items: Vec<TerminalText>,
        default: Option<usize>,
    ) -> Result<Option<usize>, Failure> {
        let count = items.len();
        let mut default = default.unwrap_or(0);
        if !self.is_required {
            items.push(SKIP.into());
            default = if self.before.is_none() && self.has_no_default() { count } else { default };
        }
        let chosen = terminal::select(Some(&self.prompt()), &items, Some(default))?;
        Ok(Some(chosen).filter(|at| *at < count))
    }

    fn has_no_default(&self) -> bool {
        match &self.field.kind {
            FieldKind::Boolean(schema) => schema.default.is_none(),
            FieldKind::Select(schema) => schema.default.is_none(),
            _ => true,
        }
    }
}

fn names(options: &[SelectOption]) -> Vec<TerminalText> {
    options.iter().map(|it| line(it.display_name())).collect()
}

/// A value as the user types it.
fn plain(value: &RawJson) -> String {
    value.parse().unwrap_or_else(|_| value.as_str().to_owned())
}
