//! Questions that a server asks the user, and the answers to them.
//!
//! Up to 2025-11-25 a question is a request from the server, since 2026-07-28 it is part of a
//! result. The handler that answers sees no difference.

use std::collections::BTreeMap;
use std::fmt;

use bowline_types::capability::ClientCapabilities;
use bowline_types::elicitation::schema::FormSchema;
use bowline_types::elicitation::{ElicitParams, ElicitResult, FormParams};
use bowline_types::error::ErrorObject;
use bowline_types::implementation::Implementation;
use bowline_types::json::{Object, RawJson};
use serde::Serialize;

use crate::hook::{Hook, Observer};
use crate::sensitive::names_a_secret;
use crate::server_identity::ServerIdentity;
use crate::web_page::WebPage;

/// A question that a server asks the user.
///
/// Show which server asks and what for, let the user change the answer before it is sent, and make
/// it as easy to decline as to accept.
#[derive(Clone, Debug)]
pub struct Question {
    kind: QuestionKind,
    server: ServerIdentity,
}

#[derive(Clone, Debug)]
enum QuestionKind {
    Form(FormParams),
    Page(WebPage),
}

impl Question {
    /// Reads a question.
    ///
    /// # Errors
    ///
    /// If its mode is unknown, or it names a URL that no browser should open.
    pub(crate) fn new(params: ElicitParams, server: ServerIdentity) -> Result<Self, ErrorObject> {
        let kind = match params {
            ElicitParams::Form(form) => QuestionKind::Form(form),
            ElicitParams::Url(page) => {
                QuestionKind::Page(WebPage::new(page).map_err(|error| {
                    ErrorObject::invalid_params(format!("`params.url`: {error}"))
                })?)
            }
            _ => return Err(ErrorObject::invalid_params("`mode`: neither `form` nor `url`")),
        };
        Ok(Self { kind, server })
    }

    /// The text of the question.
    pub fn message(&self) -> &str {
        match &self.kind {
            QuestionKind::Form(form) => &form.message,
            QuestionKind::Page(page) => page.message(),
        }
    }

    /// The form to fill in; `None` if the user is to visit a web page instead.
    pub fn form(&self) -> Option<&FormSchema> {
        match &self.kind {
            QuestionKind::Form(form) => Some(&form.requested_schema),
            QuestionKind::Page(_) => None,
        }
    }

    /// The web page to visit; `None` if there is a form to fill in. Only with
    /// [`allow_urls`](crate::ClientBuilder::allow_urls) do servers ask this way.
    pub fn page(&self) -> Option<&WebPage> {
        match &self.kind {
            QuestionKind::Form(_) => None,
            QuestionKind::Page(page) => Some(page),
        }
    }

    /// The URL of the page to visit; `None` if there is a form to fill in.
    ///
    /// Show it in full and open it in the user's browser only after consent; never fetch it.
    pub fn url(&self) -> Option<&str> {
        self.page().map(WebPage::url)
    }

    /// The application's [name](crate::ClientBuilder::label) for the server that asks.
    pub fn label(&self) -> Option<&str> {
        self.server.label()
    }

    /// The name and version that the server gives itself, which cannot be trusted.
    pub fn server(&self) -> Option<&Implementation> {
        self.server.info()
    }

    /// Whether a form seems to ask for a secret: a password, a key, a card number.
    ///
    /// Servers must use a web page for that. This guesses from English words in the question and
    /// its fields, so it may be wrong: warn the user, or decline if you prefer to lose an answer.
    pub fn looks_sensitive(&self) -> bool {
        let Some(form) = self.form() else { return false };
        let fields = form.fields().any(|(name, field)| {
            let texts = [Some(name), field.title.as_deref(), field.description.as_deref()];
            texts.into_iter().flatten().any(names_a_secret)
        });
        fields || names_a_secret(self.message())
    }

    /// Makes the answer of a user who filled in the form, or agreed to visit the page.
    ///
    /// The content serializes to a JSON object with the fields of the form. For a form with one
    /// field, its value alone is enough; for one without fields, `true` or `()`. Missing fields get
    /// their defaults. An answer that does not fit the form is not sent; see [`Answer::problem`].
    /// For a page the content is ignored.
    pub fn accept(&self, content: impl Serialize) -> Answer {
        let form = match &self.kind {
            QuestionKind::Form(form) => &form.requested_schema,
            QuestionKind::Page(_) => return self.consent(),
        };
        Answer(fill(form, &content).map(ElicitResult::accept))
    }

    /// Makes the answer of a user who agreed to visit the page. It does not say what the user did
    /// there.
    pub fn consent(&self) -> Answer {
        match &self.kind {
            QuestionKind::Form(_) => Answer(Err("a form is accepted with its content".to_owned())),
            QuestionKind::Page(_) => Answer(Ok(ElicitResult::consent())),
        }
    }

    /// Makes the answer of a user who said no.
    pub fn decline(&self) -> Answer {
        Answer(Ok(ElicitResult::decline()))
    }

    /// Makes the answer of a user who made no choice, such as closing the window.
    pub fn cancel(&self) -> Answer {
        Answer(Ok(ElicitResult::cancel()))
    }
}

/// The answer to a [`Question`], made by one of its methods.
///
/// A handler that can fail returns a `Result` of it. Its error means that the user could not be
/// asked. Then the call that led to the question fails; up to 2025-11-25 the server gets an error.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer(Result<ElicitResult, String>);

impl Answer {
    /// Why the answer cannot be sent; `None` if it can. Show it to the user, who may answer again.
    pub fn problem(&self) -> Option<&str> {
        self.0.as_ref().err().map(String::as_str)
    }

    /// The response to the server.
    pub(crate) fn into_response(self) -> Result<RawJson, ErrorObject> {
        let unsent = |problem| {
            ErrorObject::internal(format!("the client has no answer that it can send: {problem}"))
        };
        let result = self.0.map_err(unsent)?;
        RawJson::from_value(&result).map_err(|error| unsent(error.to_string()))
    }
}

impl<E: fmt::Display> From<Result<Answer, E>> for Answer {
    fn from(answer: Result<Answer, E>) -> Self {
        answer.unwrap_or_else(|error| Self(Err(error.to_string())))
    }
}

/// The application's handlers for questions to the user.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elicitation {
    pub(crate) ask: Option<Hook<Question, Answer>>,
    pub(crate) urls: bool,
    pub(crate) complete: Option<Observer<str>>,
}

impl Elicitation {
    /// Declares the modes in which the user can be asked.
    pub(crate) fn declare(&self, capabilities: ClientCapabilities) -> ClientCapabilities {
        match (&self.ask, self.urls) {
            (None, _) => capabilities,
            (Some(_), false) => capabilities.with_form_elicitation(),
            (Some(_), true) => capabilities.with_form_elicitation().with_url_elicitation(),
        }
    }

    /// Answers a question.
    pub(crate) async fn answer(
        self,
        params: ElicitParams,
        server: ServerIdentity,
    ) -> Result<RawJson, ErrorObject> {
        // Not reached: without the capability, the question is refused before it comes here.
        let Some(ask) = self.ask else {
            return Err(ErrorObject::method_not_found("this client asks no user"));
        };
        ask.call(Question::new(params, server)?).await.into_response()
    }
}

/// Makes the content for a form: fills in defaults and checks it.
fn fill(form: &FormSchema, content: &impl Serialize) -> Result<Object, String> {
    let content = RawJson::from_value(content)
        .map_err(|error| format!("the content cannot be written as JSON: {error}"))?;
    let content = form.fill_defaults(&object(form, content)?);
    form.check(&content).map_err(|error| error.to_string())
}

fn object(form: &FormSchema, content: RawJson) -> Result<Object, String> {
    let mut fields = form.fields();
    let content = match (content.as_str(), fields.next(), fields.next()) {
        ("null", ..) | ("true", None, _) => RawJson::empty_object(),
        _ if content.is_object() => content,
        (_, Some((name, _)), None) => {
            // A map with string keys always serializes to an object.
            RawJson::from_value(&BTreeMap::from([(name, &content)])).unwrap_or_default()
        }
        _ => content,
    };
    Object::new(content).map_err(|json| {
        let shown: String = json.as_str().chars().take(40).collect();
        let names: Vec<_> = form.fields().map(|(name, _)| format!("`{name}`")).collect();
        format!("`{shown}` is no object with the fields of the form ({})", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use bowline_types::elicitation::schema::{
        BooleanSchema, FormField, NumberSchema, StringSchema,
    };
    use serde_json::json;

    use super::*;

    fn question(form: FormSchema) -> Question {
        Question::new(ElicitParams::form("Who?", form), ServerIdentity::unmet(None)).unwrap()
    }

    fn response(answer: Answer) -> String {
        answer.into_response().unwrap().as_str().to_owned()
    }

    fn person() -> FormSchema {
        FormSchema::new()
            .with_required("name", StringSchema::new())
            .with_optional("age", FormField::integer(NumberSchema::new().with_default(30)))
    }

    // spec: ELIC-22, ELIC-27
    #[test]
    fn fields_that_are_missing_get_their_defaults() {
        let answer = question(person()).accept(json!({ "name": "Ada" }));
        assert_eq!(answer.problem(), None);
        let expected = r#"{"action":"accept","content":{"name":"Ada","age":30}}"#;
        assert_eq!(response(answer), expected);
    }

    // spec: ELIC-56, ELIC-57
    #[test]
    fn an_answer_that_does_not_fit_the_form_is_not_sent() {
        let answer = question(person()).accept(json!({ "age": "old" }));
        let problem = answer.problem().unwrap();
        assert!(problem.contains("`name`: it is required but missing"), "{problem}");
        assert!(problem.contains("`age`: expected a whole number"), "{problem}");
        assert_eq!(answer.into_response().unwrap_err().code, -32603);
    }

    #[test]
    fn the_value_alone_answers_a_form_of_one_field() {
        let one = FormSchema::new().with_required("sure", BooleanSchema::new());
        let answer = question(one).accept(true);
        assert_eq!(response(answer), r#"{"action":"accept","content":{"sure":true}}"#);
        let none = question(FormSchema::new());
        assert_eq!(response(none.accept(true)), r#"{"action":"accept","content":{}}"#);
        assert_eq!(response(none.accept(())), r#"{"action":"accept","content":{}}"#);
        let several = question(person()).accept("Ada");
        let expected = r#"`"Ada"` is no object with the fields of the form (`name`, `age`)"#;
        assert_eq!(several.problem(), Some(expected));
    }

    // spec: ELIC-27
    #[test]
    fn content_goes_only_with_an_accepted_form() {
        let page = ElicitParams::url("Sign in", "https://example.com/login");
        let page = Question::new(page, ServerIdentity::unmet(None)).unwrap();
        assert_eq!(page.url(), Some("https://example.com/login"));
        assert_eq!(page.form(), None);
        assert_eq!(response(page.accept(json!({ "a": 1 }))), r#"{"action":"accept"}"#);
        assert_eq!(response(page.consent()), r#"{"action":"accept"}"#);
        assert_eq!(response(page.decline()), r#"{"action":"decline"}"#);
        assert_eq!(
            question(person()).consent().problem(),
            Some("a form is accepted with its content")
        );
        assert_eq!(response(question(person()).cancel()), r#"{"action":"cancel"}"#);
    }

    #[test]
    fn a_form_that_asks_for_a_secret_is_detected() {
        let field = |field| question(FormSchema::new().with_required("field", field));
        assert!(!question(person()).looks_sensitive());
        assert!(
            field(FormField::from(StringSchema::new()).with_title("API key")).looks_sensitive()
        );
        let described =
            FormField::from(StringSchema::new()).with_description("the password of the db");
        assert!(field(described).looks_sensitive());
        let named = FormSchema::new().with_optional("accessToken", StringSchema::new());
        assert!(question(named).looks_sensitive());
        let page = ElicitParams::url("Enter your password there", "https://example.com");
        assert!(!Question::new(page, ServerIdentity::unmet(None)).unwrap().looks_sensitive());
    }

    #[test]
    fn a_handler_that_fails_has_no_answer() {
        let answer = Answer::from(Err::<Answer, _>("no terminal"));
        assert_eq!(answer.problem(), Some("no terminal"));
        let error = answer.into_response().unwrap_err();
        assert_eq!(error.message, "the client has no answer that it can send: no terminal");
    }
}
