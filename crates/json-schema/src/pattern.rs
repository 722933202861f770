//! Runs the regular expressions of `pattern` and `patternProperties` in linear time.
//!
//! JSON Schema writes patterns in the dialect of ECMA-262. [`regex_lite`] has a dialect of its own,
//! and runs it without backtracking, so in linear time. This module translates the one into the
//! other. Patterns that need backtracking or Unicode tables are refused when the schema is
//! compiled.
//!
//! Translating means: groups do not capture, `.` and `\s` get the characters that ECMA-262 gives
//! them, and every literal is written as a code point, so that nothing of it is special in the
//! other dialect.

use regex_lite::{Regex, RegexBuilder};

/// A compiled pattern; it matches anywhere in the text unless it is anchored. Compiled with its
/// schema and kept with it.
#[derive(Debug)]
pub(crate) struct Pattern {
    source: Box<str>,
    regex: Regex,
    /// The smallest of [`SIZES`] that the program fits in, in kibibytes.
    size: usize,
}

/// Sizes of compiled programs to try, in kibibytes: matching costs up to size times length.
const SIZES: [usize; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

impl Pattern {
    /// Fails with a sentence that names the unsupported part and a way out.
    pub(crate) fn compile(source: &str) -> Result<Self, String> {
        let translated =
            Translation { rest: source, out: String::new(), may_repeat: false }.run()?;
        let mut failure = String::new();
        for size in SIZES {
            match RegexBuilder::new(&translated).size_limit(size * 1024).build() {
                Ok(regex) => {
                    return Ok(Self { source: source.into(), regex, size });
                }
                Err(error) => failure = error.to_string(),
            }
        }
        Err(format!("{failure}: simplify the pattern"))
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// The largest size of the compiled pattern, in kibibytes.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The caller has charged [`cost`](Self::cost) before.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// The cost of matching this text, in steps of an evaluation.
    pub(crate) fn cost(&self, text: &str) -> usize {
        1 + text.len().saturating_mul(self.size) / 2
    }
}

/// The characters of `\s` in ECMA-262, as the inside of a class.
const SPACE: &str = r"\x{9}-\x{D}\x{20}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}";
/// The complement of [`SPACE`], for use among other members of a class.
const NOT_SPACE: &str = r"\x{0}-\x{8}\x{E}-\x{1F}\x{21}-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{FEFE}\x{FF00}-\x{10FFFF}";
/// The meaning of `.` in ECMA-262: anything but an end of line.
const NOT_LINE_END: &str = r"[^\n\r\x{2028}\x{2029}]";

/// One character, or a set of them written as the inside of a class. What a class holds, and what
/// an escape stands for.
enum Atom {
    One(char),
    Set(&'static str),
}

/// The state of one translation. Reads from the front of `rest` and writes to `out`.
struct Translation<'p> {
    rest: &'p str,
    out: String,
    /// Whether a quantifier can follow.
    may_repeat: bool,
}

impl Translation<'_> {
    /// Parentheses are not balanced here: the other engine reports one that is left open.
    fn run(mut self) -> Result<String, String> {
        while let Some(c) = self.next() {
            match c {
                '^' | '$' | '|' => self.push_unrepeatable(c),
                '(' => self.open_group()?,
                '*' | '+' | '?' => self.repeat(&c.to_string())?,
                '{' => self.open_brace()?,
                '[' => self.class()?,
                '\\' if self.rest.starts_with(['b', 'B']) => {
                    self.out.push('\\');
                    let boundary = self.next().unwrap_or('b');
                    self.push_unrepeatable(boundary);
                }
                _ => {
                    match c {
                        ')' => self.out.push(')'),
                        '.' => self.out.push_str(NOT_LINE_END),
                        '\\' => self.escape_outside_class()?,
                        _ => push_literal(&mut self.out, c),
                    }
                    self.may_repeat = true;
                }
            }
        }
        Ok(self.out)
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = self.rest.get(c.len_utf8()..)?;
        Some(c)
    }

    fn eat(&mut self, prefix: &str) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Anchors, boundaries and alternatives, which no quantifier may follow.
    fn push_unrepeatable(&mut self, c: char) {
        self.out.push(c);
        self.may_repeat = false;
    }

    /// Groups never capture, because no captures are read.
    fn open_group(&mut self) -> Result<(), String> {
        self.may_repeat = false;
        if ["?=", "?!", "?<=", "?<!"].iter().any(|look| self.rest.starts_with(look)) {
            return Err("lookaround `(?=`, `(?!`, `(?<=`, `(?<!` is not supported: rewrite the \
                        pattern without it, or combine patterns with `allOf` and `not`"
                .to_owned());
        }
        if self.eat("?i)") {
            self.out.push_str("(?i)");
        } else if self.eat("?i:") {
            self.out.push_str("(?i:");
        } else if self.eat("?<") {
            let Some((_, rest)) = self.rest.split_once('>') else {
                return Err("a group name lacks its closing `>`".to_owned());
            };
            self.rest = rest;
            self.out.push_str("(?:");
        } else if self.eat("?:") || !self.rest.starts_with('?') {
            self.out.push_str("(?:");
        } else {
            return Err("a group may start with `(`, `(?:`, `(?<name>` or `(?i:` only".to_owned());
        }
        Ok(())
    }

    /// A `?` behind it makes it lazy, which changes nothing for a yes or no.
    fn repeat(&mut self, quantifier: &str) -> Result<(), String> {
        if !self.may_repeat {
            return Err(format!("nothing precedes `{quantifier}` that could repeat"));
        }
        self.out.push_str(quantifier);
        if self.eat("?") {
            self.out.push('?');
        }
        self.may_repeat = false;
        Ok(())
    }

    /// A brace that does not start a quantifier is a plain character, as in browsers.
    fn open_brace(&mut self) -> Result<(), String> {
        if let Some((inside, rest)) = self.rest.split_once('}') {
            let (least, most) = inside.split_once(',').unwrap_or((inside, ""));
            let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            if !least.is_empty() && is_number(least) && is_number(most) {
                self.rest = rest;
                return self.repeat(&format!("{{{inside}}}"));
            }
        }
        push_literal(&mut self.out, '{');
        self.may_repeat = true;
        Ok(())
    }

    fn escape_outside_class(&mut self) -> Result<(), String> {
        match self.escape()? {
            Atom::One(c) => push_literal(&mut self.out, c),
            Atom::Set(inside) => {
                self.out.push('[');
                self.out.push_str(inside);
                self.out.push(']');
            }
        }
        Ok(())
    }

    /// A class such as `[a-z\d]`, after its opening bracket.
    fn class(&mut self) -> Result<(), String> {
        let is_negated = self.eat("^");
        self.may_repeat = true;
        if self.eat("]") {
            // `[]` matches nothing and `[^]` anything; regex_lite has other words for both.
            let all = if is_negated { r"[\x{0}-\x{10FFFF}]" } else { r"[^\x{0}-\x{10FFFF}]" };
            self.out.push_str(all);
            return Ok(());
        }
        self.out.push_str(if is_negated { "[^" } else { "[" });
        while !self.eat("]") {
            let first = self.class_atom()?;
            let is_range = self.rest.starts_with('-') && !self.rest.starts_with("-]");
            push_atom(&mut self.out, &first);
            if !is_range {
                continue;
            }
            self.eat("-");
            let last = self.class_atom()?;
            match (first, &last) {
                (Atom::One(_), Atom::One(_)) => self.out.push('-'),
                // Next to a set, the dash is a plain character.
                _ => push_literal(&mut self.out, '-'),
            }
            push_atom(&mut self.out, &last);
        }
        self.out.push(']');
        Ok(())
    }

    /// Inside of a class `\b` is a backspace, not a boundary.
    fn class_atom(&mut self) -> Result<Atom, String> {
        match self.next() {
            None => Err("a character class lacks its closing `]`".to_owned()),
            Some('\\') if self.eat("b") => Ok(Atom::One('\u{8}')),
            Some('\\') => self.escape(),
            Some(c) => Ok(Atom::One(c)),
        }
    }

    /// Reads what follows a backslash.
    fn escape(&mut self) -> Result<Atom, String> {
        let Some(c) = self.next() else {
            return Err("the pattern ends in the middle of an escape".to_owned());
        };
        Ok(match c {
            'd' => Atom::Set(r"\d"),
            'D' => Atom::Set(r"\D"),
            'w' => Atom::Set(r"\w"),
            'W' => Atom::Set(r"\W"),
            's' => Atom::Set(SPACE),
            'S' => Atom::Set(NOT_SPACE),
            't' => Atom::One('\t'),
            'n' => Atom::One('\n'),
            'r' => Atom::One('\r'),
            'v' => Atom::One('\u{B}'),
            'f' => Atom::One('\u{C}'),
            '0' if !self.rest.starts_with(|next: char| next.is_ascii_digit()) => Atom::One('\0'),
            'c' => Atom::One(self.control()?),
            'x' => Atom::One(self.character(2)?),
            'u' => Atom::One(self.unicode()?),
            '0'..='9' | 'k' => {
                return Err("backreferences are not supported: rewrite the pattern".to_owned());
            }
            'p' | 'P' => {
                return Err(
                    "Unicode properties `\\p` are not supported: list the characters in a \
                            class such as `[A-Za-z]`"
                        .to_owned(),
                );
            }
            _ if c.is_alphanumeric() => {
                return Err(format!(r"the escape `\{c}` is unknown: remove the backslash"));
            }
            _ => Atom::One(c),
        })
    }

    /// `\cA` is U+0001, and so on.
    fn control(&mut self) -> Result<char, String> {
        match self.next() {
            Some(letter) if letter.is_ascii_alphabetic() => Ok(char::from(letter as u8 % 32)),
            _ => Err(r"`\c` takes a letter".to_owned()),
        }
    }

    /// `\u{1F600}`, `\u0041`, or a surrogate pair of two escapes.
    fn unicode(&mut self) -> Result<char, String> {
        if self.eat("{") {
            let digits = self.rest.find('}').unwrap_or_default();
            let c = self.character(digits)?;
            self.eat("}");
            return Ok(c);
        }
        let high = self.hexadecimal(4)?;
        if !(0xD800..0xDC00).contains(&high) {
            return to_character(high);
        }
        // Two halves of a surrogate pair are one character.
        let low = if self.eat(r"\u") { self.hexadecimal(4)? } else { 0 };
        if (0xDC00..0xE000).contains(&low) {
            to_character(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
        } else {
            to_character(high)
        }
    }

    fn character(&mut self, digits: usize) -> Result<char, String> {
        to_character(self.hexadecimal(digits)?)
    }

    fn hexadecimal(&mut self, digits: usize) -> Result<u32, String> {
        let broken = || r"`\x` takes two and `\u` four hexadecimal digits".to_owned();
        let (text, rest) = self.rest.split_at_checked(digits).ok_or_else(broken)?;
        self.rest = rest;
        if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(broken());
        }
        u32::from_str_radix(text, 16).map_err(|_| broken())
    }
}

fn to_character(code: u32) -> Result<char, String> {
    char::from_u32(code).ok_or_else(|| format!("U+{code:04X} is not a character"))
}

fn push_atom(out: &mut String, atom: &Atom) {
    match atom {
        Atom::One(c) => push_literal(out, *c),
        Atom::Set(inside) => out.push_str(inside),
    }
}

/// Writes a character so that it is literal, inside and outside of a class.
fn push_literal(out: &mut String, c: char) {
    if c.is_alphanumeric() {
        out.push(c);
    } else {
        out.push_str(&format!(r"\x{{{:X}}}", u32::from(c)));
    }
}

#[cfg(test)]
mod tests;
