//! Text that may reach a terminal: a type of its own, so that text from outside cannot get there
//! uncleaned.
//!
//! It is made of literals of this program, of text that [`line`], [`lines`] or [`paragraph`] has
//! cleaned of [hidden](bowline_types::hidden) characters, and of these joined with `+`. A `String`
//! is no such text, and what prints takes nothing else.

use std::fmt::Display;
use std::ops::{Add, AddAssign};

use anstyle::Style;
use bowline_types::hidden::marked;
use console::{measure_text_width, truncate_str};

/// Text that may reach a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TerminalText(String);

/// Makes one line of text, with the arguments of `format!`; what is not fit for a terminal is
/// escaped, line breaks included. Text of several lines is several of these, joined with `"\n"`.
macro_rules! text {
    ($($format:tt)*) => { $crate::print::line(format_args!($($format)*)) };
}
pub(crate) use text;

/// Cleans a text that must stay on one line: line breaks and tabs are shown as escapes.
pub(crate) fn line(text: impl Display) -> TerminalText {
    TerminalText(escaped(&text.to_string(), |_| false))
}

/// Cleans a text of several lines: line breaks and tabs stay.
pub(crate) fn lines(text: impl Display) -> TerminalText {
    let text = text.to_string().replace("\r\n", "\n");
    TerminalText(escaped(&text, |c| matches!(c, '\n' | '\t')))
}

/// Cleans a text, and makes one line of it: whatever white space it has becomes single spaces.
pub(crate) fn paragraph(text: impl Display) -> TerminalText {
    let text = text.to_string();
    line(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn escaped(text: &str, keeps: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for (c, is_hidden) in marked(text) {
        match is_hidden && !keeps(c) {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    out
}

impl TerminalText {
    /// The texts with a separator between them.
    pub(crate) fn joined<T: Into<Self>>(
        texts: impl IntoIterator<Item = T>,
        separator: &'static str,
    ) -> Self {
        let texts: Vec<String> = texts.into_iter().map(|text| text.into().0).collect();
        Self(texts.join(separator))
    }

    /// The help of a command line, which literals describe.
    pub(crate) fn help<C: clap::CommandFactory>(template: &'static str) -> Self {
        let help = C::command().help_template(template).render_help();
        Self(help.ansi().to_string())
    }

    /// So many spaces.
    pub(crate) fn spaces(count: usize) -> Self {
        Self(" ".repeat(count))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many columns it takes, if it is one line.
    pub(crate) fn width(&self) -> usize {
        measure_text_width(&self.0)
    }

    /// The lines of it.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Self> + '_ {
        self.0.lines().map(|line| Self(line.to_owned()))
    }

    /// The words of it.
    pub(crate) fn words(&self) -> impl Iterator<Item = Self> + '_ {
        self.0.split_whitespace().map(|word| Self(word.to_owned()))
    }

    /// The text in pieces of at most this width.
    pub(crate) fn pieces(&self, width: usize) -> Vec<Self> {
        let mut pieces = vec![Self::default()];
        let (mut used, mut is_style) = (0, false);
        for c in self.0.chars() {
            is_style |= c == '\u{1b}';
            let columns = if is_style { 0 } else { measure_text_width(c.encode_utf8(&mut [0; 4])) };
            is_style &= c != 'm';
            if used > 0 && used + columns > width {
                pieces.push(Self::default());
                used = 0;
            }
            used += columns;
            if let Some(piece) = pieces.last_mut() {
                piece.0.push(c);
            }
        }
        pieces
    }

    /// A word in parts between which a line may be broken: scripts such as Chinese and Japanese have
    /// no spaces.
    pub(crate) fn parts(&self) -> Vec<Self> {
        let mut parts = vec![Self::default()];
        let mut previous = None;
        for c in self.0.chars() {
            let may_break = previous.is_some_and(|it| is_ideographic(it) || is_ideographic(c))
                && !CLOSING.contains(c)
                && !previous.is_some_and(|it| OPENING.contains(it));
            if may_break {
                parts.push(Self::default());
            }
            if let Some(part) = parts.last_mut() {
                part.0.push(c);
            }
            previous = Some(c);
        }
        parts
    }

    /// The first columns, up to this width.
    pub(crate) fn truncated(&self, width: usize) -> Self {
        Self(truncate_str(&self.0, width, "").into_owned())
    }
}

/// Marks that begin no line, and marks that end none.
const CLOSING: &str = "、。，．・：；！？）］｝」』】〕》〉…ー々";
const OPENING: &str = "（［｛「『【〔《〈";

/// Whether a line may be broken before and after the character, without a space.
fn is_ideographic(c: char) -> bool {
    matches!(
        c,
        '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ff60}' | '\u{20000}'..='\u{3ffff}'
    )
}

/// How text looks on a terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look(Style);

impl Look {
    pub(super) const fn new(style: Style) -> Self {
        Self(style)
    }

    /// The text, looking like this.
    pub(crate) fn on(self, text: impl Into<TerminalText>) -> TerminalText {
        let Self(style) = self;
        TerminalText(format!("{style}{}{style:#}", text.into().0))
    }
}

impl From<&'static str> for TerminalText {
    /// A literal of this program.
    fn from(literal: &'static str) -> Self {
        Self(literal.to_owned())
    }
}

impl From<&Self> for TerminalText {
    fn from(text: &Self) -> Self {
        text.clone()
    }
}

impl<T: Into<Self>> Add<T> for TerminalText {
    type Output = Self;

    fn add(mut self, text: T) -> Self {
        self += text;
        self
    }
}

impl<T: Into<Self>> AddAssign<T> for TerminalText {
    fn add_assign(&mut self, text: T) {
        self.0.push_str(&text.into().0);
    }
}

/// Does not compile if one of these types becomes text for a terminal without being cleaned: `holds`
/// is ambiguous for a type that converts.
const _: () = {
    trait Unless<Reason> {
        fn holds() {}
    }
    struct Converts;
    impl<T: ?Sized> Unless<()> for T {}
    impl<T: Into<TerminalText>> Unless<Converts> for T {}
    let _ = <String as Unless<_>>::holds;
    let _ = <&String as Unless<_>>::holds;
    let _ = <std::borrow::Cow<'static, str> as Unless<_>>::holds;
    let _ = <std::fmt::Arguments<'static> as Unless<_>>::holds;
    let _ = <std::path::PathBuf as Unless<_>>::holds;
    let _ = <clap::builder::StyledStr as Unless<_>>::holds;
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_cannot_command_the_terminal() {
        assert_eq!(lines("two\n\tlines ü").as_str(), "two\n\tlines ü");
        assert_eq!(lines("\u{1b}[2Jgone").as_str(), "\\u{1b}[2Jgone");
        assert_eq!(lines("a\u{202e}b\r\nc\rd").as_str(), "a\\u{202e}b\nc\\rd");
    }

    #[test]
    fn a_line_stays_a_line() {
        assert_eq!(line("a\nb\tc\r\n").as_str(), "a\\nb\\tc\\r\\n");
        let name = "x\u{2028}y\u{85}";
        assert_eq!(text!("`{name}`: {}", 7).as_str(), "`x\\u{2028}y\\u{85}`: 7");
        assert_eq!(paragraph("  a\n\n b\u{7} ").as_str(), "a b\\u{7}");
    }
}
