//! One field of a form at the terminal: its type, its options, its default.

use bowline::types::elicitation::schema::{
    FieldKind, FormField, FormSchema, MultiSelectSchema, SelectOption, SelectSchema,
};
use bowline::types::json::{Object, RawJson};
use console::Term;
use dialoguer::{Input, MultiSelect, Select};

use crate::exit::Failure;
use crate::print::table::wrap;
use crate::print::{self, clean};
use crate::schema::Members;
use crate::terminal::{theme, unasked, with_default};

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
        FieldKind::String(schema) => asked.text(schema.default.clone(), |text| {
            RawJson::from_value(text).map_err(|error| error.to_string())
        }),
        FieldKind::Number(schema) | FieldKind::Integer(schema) => {
            asked.text(schema.default.as_ref().map(ToString::to_string), number)
        }
        FieldKind::Boolean(schema) => asked.boolean(schema.default),
        FieldKind::Select(schema) => asked.select(schema),
        FieldKind::MultiSelect(schema) => asked.multi_select(schema),
        _ => asked.text(None, |text| {
            RawJson::from_text(text).map_err(|_| "expected JSON, such as \"text\"".to_owned())
        }),
    }
}

fn number(text: &str) -> Result<RawJson, String> {
    let json = RawJson::from_text(text.trim()).ok();
    let is_number =
        |json: &RawJson| json.as_str().starts_with(|c: char| c == '-' || c.is_ascii_digit());
    json.filter(is_number).ok_or_else(|| "expected a number".to_owned())
}

impl Asked<'_> {
    /// Prints what the field is for. The prompt itself stays short: a prompt that is wider than
    /// the terminal is not erased whole, and would be shown twice.
    fn describe(&self) {
        let Some(about) = &self.field.description else { return };
        let width = usize::from(Term::stderr().size().1).max(20);
        let about = clean(about).replace('\n', " ");
        print::note(&wrap(about.trim(), width).join("\n"));
    }

    /// The question: the title or name.
    fn prompt(&self) -> String {
        let name = self.field.title.as_deref().unwrap_or(self.name);
        let mark = if self.is_required { "" } else { ", optional" };
        clean(&format!("{name}{mark}")).replace('\n', " ")
    }

    fn text(
        &self,
        default: Option<String>,
        read: impl Fn(&str) -> Result<RawJson, String>,
    ) -> Result<Option<RawJson>, Failure> {
        let check = |text: &String| match text.is_empty() && !self.is_required {
            true => Ok(()),
            false => read(text).and_then(|value| self.check(&value)),
        };
        let theme = theme();
        let mut input = Input::<String>::with_theme(&theme)
            .with_prompt(self.prompt())
            .allow_empty(!self.is_required)
            .validate_with(check);
        if let Some(default) = self.before.map(plain).or(default) {
            input = with_default(input, default);
        }
        let text = input.interact_text().map_err(unasked)?;
        Ok(read(&text).ok().filter(|_| !text.is_empty()))
    }

    /// Whether the form allows this value.
    fn check(&self, value: &RawJson) -> Result<(), String> {
        let form = FormSchema::new().with_required(self.name, self.field.clone());
        let mut content = Members::default();
        content.set(self.name, value.clone());
        let content = Object::new(RawJson::from_value(&content).unwrap_or_default());
        let checked = form.check(&content.unwrap_or_default());
        checked.map(|_| ()).map_err(|error| clean(&error.to_string()).into_owned())
    }

    fn boolean(&self, default: Option<bool>) -> Result<Option<RawJson>, Failure> {
        let default = self.before.map(|it| it.as_str() == "true").or(default);
        let default = default.map(|it| usize::from(!it));
        let chosen = self.choose(&["yes", "no"], default)?;
        Ok(chosen.map(|at| RawJson::from_value(&(at == 0)).unwrap_or_default()))
    }

    fn select(&self, schema: &SelectSchema) -> Result<Option<RawJson>, Failure> {
        let default = self.before.map(plain).or_else(|| schema.default.clone());
        let default = schema.options.iter().position(|it| Some(&it.value) == default.as_ref());
        let chosen = self.choose(&names(&schema.options), default)?;
        let value = |at: usize| RawJson::from_value(&schema.options[at].value).unwrap_or_default();
        Ok(chosen.map(value))
    }

    fn multi_select(&self, schema: &MultiSelectSchema) -> Result<Option<RawJson>, Failure> {
        let before = self.before.and_then(|it| it.parse().ok());
        let default: Vec<String> = before.or_else(|| schema.default.clone()).unwrap_or_default();
        let marked: Vec<bool> =
            schema.options.iter().map(|it| default.contains(&it.value)).collect();
        print::note("Space marks, Enter ends.");
        let chosen = MultiSelect::with_theme(&theme())
            .with_prompt(self.prompt())
            .items(names(&schema.options))
            .defaults(&marked)
            .interact()
            .map_err(unasked)?;
        let values: Vec<&str> =
            chosen.into_iter().map(|at| schema.options[at].value.as_str()).collect();
        let is_left_out = values.is_empty() && !self.is_required;
        Ok((!is_left_out).then(|| RawJson::from_value(&values).unwrap_or_default()))
    }

    /// Lets the user choose one item, or none if the field is optional.
    fn choose(
        &self,
        items: &[impl std::fmt::Display],
        default: Option<usize>,
    ) -> Result<Option<usize>, Failure> {
        let theme = theme();
        let mut select = Select::with_theme(&theme).with_prompt(self.prompt());
        select = select.items(items);
        let mut default = default.unwrap_or(0);
        if !self.is_required {
            select = select.item(SKIP);
            default =
                if self.before.is_none() && self.has_no_default() { items.len() } else { default };
        }
        let chosen = select.default(default).interact().map_err(unasked)?;
        Ok(Some(chosen).filter(|at| *at < items.len()))
    }

    fn has_no_default(&self) -> bool {
        match &self.field.kind {
            FieldKind::Boolean(schema) => schema.default.is_none(),
            FieldKind::Select(schema) => schema.default.is_none(),
            _ => true,
        }
    }
}

fn names(options: &[SelectOption]) -> Vec<String> {
    options.iter().map(|it| clean(it.display_name()).into_owned()).collect()
}

/// A value as the user types it.
fn plain(value: &RawJson) -> String {
    value.parse().unwrap_or_else(|_| value.as_str().to_owned())
}
