//! Parsing, expanding and matching templates, and the linear time of matching.

use proptest::prelude::*;

use super::matching::STEPS;
use super::*;

fn parse(text: &str) -> UriTemplate {
    UriTemplate::parse(text).unwrap()
}

fn variables() -> Variables {
    Variables::new()
        .with("word", "salt")
        .with("odd", "a b/é?")
        .with("percent", "50%")
        .with("octet", "a%2Fb")
        .with("empty", "")
        .with("list", TemplateValue::List(vec!["x".into(), "y,z".into()]))
        .with("none", TemplateValue::List(vec![]))
        .with(
            "keys",
            TemplateValue::Pairs(vec![("k".into(), "v".into()), ("m".into(), ";".into())]),
        )
}

fn assert_expands(template: &str, expected: &str) {
    assert_eq!(parse(template).expand(&variables()).unwrap(), expected, "{template}");
}

/// The values that a template finds in a URI, as `name=value`, joined by spaces.
fn found(template: &str, uri: &str) -> Option<String> {
    let found = parse(template).match_uri(uri)?;
    let show = |(name, value): (&str, &TemplateValue)| match value {
        TemplateValue::Text(text) => format!("{name}={text}"),
        TemplateValue::List(items) => format!("{name}={items:?}"),
        TemplateValue::Pairs(pairs) => format!("{name}={pairs:?}"),
    };
    Some(found.iter().map(show).collect::<Vec<_>>().join(" "))
}

fn assert_found(template: &str, uri: &str, expected: &str) {
    assert_eq!(found(template, uri).as_deref(), Some(expected), "{template} in {uri}");
}

fn assert_unmatched(template: &str, uri: &str) {
    assert_eq!(found(template, uri), None, "{template} in {uri}");
}

// spec: RSRC-10
#[test]
fn a_defect_is_named_with_its_position() {
    for (text, position, reason) in [
        ("a{b", 1, "`{` is never closed"),
        ("a}b", 1, "`}` closes nothing"),
        ("a{}", 2, "name of a variable is missing"),
        ("a{b,,c}", 4, "name of a variable is missing"),
        ("a{b-c}", 3, "a name holds only"),
        ("a{.b..c}", 5, "cannot begin or end with"),
        ("{b:0}", 3, "a prefix is a number from 1 to 9999"),
        ("{b:10000}", 3, "a prefix is a number"),
        ("{b:+1}", 3, "a prefix is a number"),
        ("{b:1*}", 2, "a name holds only"),
        ("{=b}", 1, "the operator `=` is reserved"),
        ("{b{c}", 2, "a name holds only"),
        ("a b", 1, "' ' cannot stand in a URI"),
        ("é%zz", 2, "`%` is not followed by two hex digits"),
        ("{b%2}", 2, "a name holds only"),
    ] {
        let error = UriTemplate::parse(text).unwrap_err();
        assert_eq!(error.position(), position, "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[test]
fn templates_are_bounded() {
    let longest = "a".repeat(UriTemplate::MAX_LENGTH);
    assert!(UriTemplate::parse(&longest).is_ok());
    assert!(UriTemplate::parse(&(longest + "a")).is_err());
    assert!(UriTemplate::parse(&"{a}".repeat(UriTemplate::MAX_VARIABLES)).is_ok());
    assert!(UriTemplate::parse(&"{a}".repeat(UriTemplate::MAX_VARIABLES + 1)).is_err());
}

#[test]
fn a_template_names_its_variables() {
    let template = parse("a://{b}/{+c,d*}{?e.f:3}");
    assert_eq!(template.variables().collect::<Vec<_>>(), ["b", "c", "d", "e.f"]);
    assert_eq!(template.to_string(), "a://{b}/{+c,d*}{?e.f:3}");
}

// spec: RSRC-10
#[test]
fn simple_and_reserved_variables_are_filled_in() {
    assert_expands("a://{word}/b", "a://salt/b");
    assert_expands("{odd}", "a%20b%2F%C3%A9%3F");
    assert_expands("{+odd}", "a%20b/%C3%A9?");
    assert_expands("{#odd}", "#a%20b/%C3%A9?");
    assert_expands("{percent}", "50%25");
    assert_expands("{+percent}", "50%25");
    assert_expands("{octet}", "a%252Fb");
    assert_expands("{+octet}", "a%2Fb");
    assert_expands("{word,empty,missing,none}", "salt,");
    assert_expands("{missing}", "");
    assert_expands("{#missing}", "");
    assert_expands("{word:2}", "sa");
    assert_expands("{odd:6}", "a%20b%2F%C3%A9%3F");
    assert_expands("{odd:5}", "a%20b%2F%C3%A9");
    assert_expands("é%41/{word}", "%C3%A9%41/salt");
}

// spec: RSRC-10
#[test]
fn labels_paths_and_parameters_are_filled_in() {
    assert_expands("a{.word,empty}", "a.salt.");
    assert_expands("a{/word,empty}/b", "a/salt//b");
    assert_expands("a{;word,empty,missing}", "a;word=salt;empty");
    assert_expands("a{?word,empty,missing}", "a?word=salt&empty=");
    assert_expands("a?b=c{&word,empty}", "a?b=c&word=salt&empty=");
    assert_expands("a{?missing}", "a");
    assert_expands("{?word:3}", "?word=sal");
}

// spec: RSRC-10
#[test]
fn lists_and_pairs_are_filled_in() {
    assert_expands("{list}", "x,y%2Cz");
    assert_expands("{list*}", "x,y%2Cz");
    assert_expands("{+list*}", "x,y,z");
    assert_expands("{.list*}", ".x.y%2Cz");
    assert_expands("{/list}", "/x,y%2Cz");
    assert_expands("{/list*}", "/x/y%2Cz");
    assert_expands("{;list}", ";list=x,y%2Cz");
    assert_expands("{?list*}", "?list=x&list=y%2Cz");
    assert_expands("{keys}", "k,v,m,%3B");
    assert_expands("{keys*}", "k=v,m=%3B");
    assert_expands("{#keys*}", "#k=v,m=;");
    assert_expands("{/keys*}", "/k=v/m=%3B");
    assert_expands("{;keys*}", ";k=v;m=%3B");
    assert_expands("{?keys}", "?keys=k,v,m,%3B");
    assert_expands("{?keys*}", "?k=v&m=%3B");
    assert_expands("{?none,none*}", "");
    assert_expands("{word*}", "salt");
    assert_expands("{?word*}", "?word=salt");
}

#[test]
fn a_prefix_of_many_is_refused() {
    let error = parse("{list:3}").expand(&variables()).unwrap_err().to_string();
    assert!(error.starts_with("variable `list`"), "{error}");
}

// spec: RSRC-10
#[test]
fn variables_are_found_between_literals() {
    assert_found("users://{id}/profile", "users://42/profile", "id=42");
    assert_found("a://{b}/{c}.json", "a://x/y.z.json", "b=x c=y.z");
    assert_found("a://{b}-{c}", "a://x-y-z", "b=x c=y-z");
    assert_found("a://{b}", "a://x%2Fy%20%C3%A9", "b=x/y é");
    assert_found("a://é/{b}", "a://%c3%a9/x", "b=x");
    assert_found("a://b", "a://b", "");
    assert_unmatched("a://b", "a://c");
    assert_unmatched("users://{id}/profile", "users://42/7/profile");
    assert_unmatched("users://{id}/profile", "users://42/profile/x");
    assert_unmatched("users://{id}/profile", "user://42/profile");
}

#[test]
fn a_variable_without_operator_needs_a_character() {
    assert_unmatched("users://{id}", "users://");
    assert_unmatched("users://{id}/profile", "users:///profile");
    assert_unmatched("file:///{+path}", "file:///");
}

#[test]
fn a_reserved_variable_runs_across_slashes_until_the_rest_matches() {
    assert_found("file:///{+path}", "file:///a/b?c#d", "path=a/b?c#d");
    assert_found("a://{+dir}/{name}", "a://b/c/d", "dir=b/c name=d");
    assert_found("a://{+dir}-{name}", "a://x/1-y/2-z", "dir=x/1-y/2 name=z");
    assert_found("a://{+dir}/meta", "a://b/meta/c/meta", "dir=b/meta/c");
    assert_found("file:///{+path}", "file:///a%2Fb%20c%25", "path=a%2Fb c%25");
    assert_found("a://{+path}{?q}{#top}", "a://b/c?q=1#d", "path=b/c q=1 top=d");
}

#[test]
fn expressions_with_an_operator_may_be_missing() {
    let template = "a://b{/path*}{.ext}{;p}{?q}{#top}";
    assert_found(template, "a://b", "");
    assert_found(template, "a://b/c/d;p=1", r#"p=1 path=["c", "d"]"#);
    assert_found(template, "a://b.md?q=1#t", "ext=md q=1 top=t");
    assert_found("a://b{/c}", "a://b/", "c=");
    assert_found("{/a}{/b}", "/x", "a=x");
    assert_unmatched("{/a}{/b}", "/x/y/z");
}

#[test]
fn parameters_are_found_by_name_in_any_order() {
    assert_found("a://b{?c,d}", "a://b?d=1&c=2", "c=2 d=1");
    assert_found("a://b{?c,d}", "a://b?d=", "d=");
    assert_found("a://b{?c,d}", "a://b?d", "d=");
    assert_found("a://b{;c,d}", "a://b;d;c=1", "c=1 d=");
    assert_found("a://b?x=1{&c}", "a://b?x=1&c=2", "c=2");
    assert_found("a://b{?c}{&d*}", "a://b?c=1&e=2&f=3", r#"c=1 d=[("e", "2"), ("f", "3")]"#);
    assert_unmatched("a://b{?c,d}", "a://b?e=1");
    assert_unmatched("a://b{?c,d}", "a://b?c=1&c=2");
    assert_unmatched("a://b{?c}", "a://b?cc=1");
    assert_found("a://{+b}{?c}", "a://b?e=1", "b=b?e=1");
}

#[test]
fn lists_and_pairs_are_found() {
    assert_found("{list}", "x,y%2Cz", r#"list=["x", "y,z"]"#);
    assert_found("{a,b}", "x,y", "a=x b=y");
    assert_found("{a,b}", "x", "a=x");
    assert_found("{a,b}", "x,y,z", r#"a=x b=["y", "z"]"#);
    assert_found("{a*}", "x", r#"a=["x"]"#);
    assert_found("{a*,b}", "k=v,x", r#"a=[("k", "v")] b=x"#);
    assert_found("{/a,b}", "/x/y", "a=x b=y");
    assert_found("{/a*}", "/k=v/m=n", r#"a=[("k", "v"), ("m", "n")]"#);
    assert_found("{?a*}", "?a=1&a=2", r#"a=["1", "2"]"#);
    assert_found("{+a,b}", "x,y,z", "a=x b=y,z");
    assert_found("{.a,b}", ".x.y.z", "a=x b=y.z");
}

#[test]
fn a_variable_used_twice_agrees_with_itself() {
    assert_found("{a}/{a}", "x/x", "a=x");
    assert_unmatched("{a}/{a}", "x/y");
    assert_found("{a:2}/{a}", "sa/salt", "a=salt");
    assert_found("{a}/{a:2}", "salt/sa", "a=salt");
    assert_unmatched("{a:2}/{a}", "su/salt");
    assert_unmatched("{a:2}", "salt");
    assert_found("{a:1}/{a:2}", "s/sa", "a=sa");
}

#[test]
fn uris_as_people_write_them_are_understood() {
    assert_found("users://{email}", "users://bob@example.com", "email=bob@example.com");
    assert_found("a://{b}/c", "a://x:y & é/c", "b=x:y & é");
    assert_found("a://b{?q}", "a://b?q=c/d?e:f", "q=c/d?e:f");
    assert_found("a://{b}", "a://100%", "b=100%");
    assert_unmatched("a://{b}", "a://x/y");
    assert_unmatched("a://{b}", "a://x?y");
}

#[test]
fn octets_that_are_not_text_match_nothing() {
    assert_unmatched("a://{b}", "a://%FF");
}

#[test]
fn lists_and_pairs_become_one_text() {
    let found = parse("a://{b}").match_uri("a://Paris,France").unwrap();
    assert_eq!(found.text("b").unwrap(), "Paris,France");
    assert_eq!(variables().text("keys").unwrap(), "k,v,m,;");
    assert_eq!(found.text("c"), None);
}

#[test]
fn uris_beyond_the_bound_match_nothing() {
    let uri = |length| "a".repeat(length);
    assert!(parse("{a}").match_uri(&uri(UriTemplate::MAX_URI)).is_some());
    assert!(parse("{a}").match_uri(&uri(UriTemplate::MAX_URI + 1)).is_none());
}

/// The number of positions that are visited to match the URI.
fn steps(template: &UriTemplate, uri: &str) -> usize {
    STEPS.set(0);
    template.match_uri(uri);
    STEPS.get()
}

/// The most steps per byte and expression, for every template and URI.
const STEPS_PER_BYTE: usize = 10;

#[test]
fn no_uri_makes_the_matching_slow() {
    let length = UriTemplate::MAX_URI;
    for (template, unit) in [
        ("{a}{b}{c}{d}{e}{f}{g}{h}!", "a"),
        ("{+a}x{+b}x{+c}x{+d}x{+e}y", "x"),
        ("{+a}aaaaaaaaaaaaaaaab{b}", "a"),
        ("{/a*}{/b*}{/c*}{/d}x", "/"),
        ("{?a*}{&b*}{&c*}{&d,e}!", "&a=1"),
        ("{?a,b,c}{?a,b,c}{?a,b,c}!", "?"),
        ("{;a*,b*}{;c*}!", ";a"),
        ("{a*,b*,c*}!", "k=v,"),
        ("{.a*}{.b*}{.c}!", "."),
        ("{+a}%41{b}!", "%41"),
        ("{+a}{#b}{+c}{#d}", "#"),
    ] {
        let template = parse(template);
        let uri = unit.repeat(length / unit.len());
        let bound = STEPS_PER_BYTE * template.parts.len() * uri.len();
        assert!(steps(&template, &uri) <= bound, "{template}: {} steps", steps(&template, &uri));
    }
}

/// Texts of one or more characters, ordinary and awkward ones.
fn text() -> impl Strategy<Value = String> {
    "[a-c./;?&#=,+!@ é€-]{1,5}"
}

/// An expression with one variable of this name, without a prefix, and a value for it.
///
/// Pairs occur only with operators that write names. With other operators, the end of pairs next to
/// a list is ambiguous.
fn expression(name: usize) -> impl Strategy<Value = (String, Variables)> {
    let one = || text().prop_map(TemplateValue::Text);
    let items = || prop::collection::vec(text(), 1..4).prop_map(TemplateValue::List);
    let pairs = prop::collection::vec(("[x-z]{1,3}", text()), 1..3).prop_map(TemplateValue::Pairs);
    let unnamed = ("[+#./]?", prop_oneof![one(), items()]);
    let named = ("[;?&]", prop_oneof![one(), items(), pairs]);
    (prop_oneof![unnamed, named], "\\*?").prop_map(move |((operator, value), explode)| {
        let variables = Variables::new().with(format!("n{name}"), value);
        (format!("{{{operator}n{name}{explode}}}"), variables)
    })
}

/// Templates of up to four expressions, with values for all of their variables.
fn filled() -> impl Strategy<Value = (String, Variables)> {
    let piece = |name| ("[a-c/.-]{0,2}", expression(name));
    (piece(0), piece(1), piece(2), piece(3), 1..=4_usize, "[a-c/.-]{0,2}").prop_map(
        |(first, second, third, fourth, count, tail)| {
            let pieces = [first, second, third, fourth].into_iter().take(count);
            let mut template = "t:".to_owned();
            let mut all = Variables::new();
            for (literal, (expression, variables)) in pieces {
                template += &(literal + &expression);
                all.0.extend(variables.0);
            }
            (template + &tail, all)
        },
    )
}

proptest! {
    // spec: RSRC-10
    #[test]
    fn a_template_matches_what_it_was_filled_in_to((template, variables) in filled()) {
        let template = parse(&template);
        let uri = template.expand(&variables).unwrap();
        let found = template.match_uri(&uri);
        prop_assert!(found.is_some(), "{template} gave {uri}");
        let again = template.expand(&found.unwrap()).unwrap();
        prop_assert_eq!(again, uri, "{}", template);
    }

    // spec: RSRC-10
    #[test]
    fn values_between_slashes_come_back_as_they_went_in(a in ".{1,8}", b in ".{1,8}", c in ".{0,8}") {
        let template = parse("t://{a}/x/{b}{?c}");
        let variables: Variables = [("a", a), ("b", b), ("c", c)].into_iter().collect();
        let uri = template.expand(&variables).unwrap();
        prop_assert_eq!(template.match_uri(&uri), Some(variables));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[a{}+#./;?&,:*3%é -]{0,20}") {
        if let Err(error) = UriTemplate::parse(&text) {
            prop_assert!(error.position() <= text.len());
        }
    }

    #[test]
    fn matching_is_linear_and_never_fails((template, _) in filled(), uri in "t:[a-cn0-3/.;?&#=,%é-]{0,200}") {
        let template = parse(&template);
        let bound = STEPS_PER_BYTE * template.parts.len() * (3 * uri.len() + 1);
        prop_assert!(steps(&template, &uri) <= bound);
    }
}
