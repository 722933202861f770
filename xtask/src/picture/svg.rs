//! Draws the text of a terminal, with its colours, as SVG.

use std::fmt::Write as _;

/// Pixels of one character and of one line.
const CHARACTER: f32 = 8.4;
const LINE: usize = 19;
const MARGIN: usize = 16;

/// The eight colours of terminals, on a dark ground.
const COLOURS: [&str; 8] =
    ["#5c6370", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#e6edf3"];

/// How characters look until the next change.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Style {
    colour: Option<&'static str>,
    bold: bool,
    dim: bool,
}

/// Draws text with the escape sequences of colours.
pub(super) fn draw(text: &str, columns: usize) -> String {
    let lines: Vec<&str> = text.trim_end().trim_end_matches('$').trim_end().lines().collect();
    #[allow(clippy::cast_precision_loss, reason = "a terminal is narrow")]
    let width = (columns as f32 * CHARACTER).ceil() + 2.0 * MARGIN as f32;
    let height = lines.len() * LINE + 2 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n\
         <g font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,monospace\" font-size=\"14\" \
         fill=\"#e6edf3\">\n"
    );
    let mut style = Style::default();
    for (row, line) in lines.iter().enumerate() {
        let y = MARGIN + row * LINE + 14;
        // Writing to a string cannot fail.
        let _ = write!(svg, "<text x=\"{MARGIN}\" y=\"{y}\">");
        draw_line(line, &mut style, &mut svg);
        svg.push_str("</text>\n");
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

fn draw_line(line: &str, style: &mut Style, svg: &mut String) {
    let mut pieces = line.split("\u{1b}[");
    push(pieces.next().unwrap_or_default(), *style, svg);
    for piece in pieces {
        let (codes, text) = piece.split_once('m').unwrap_or(("", piece));
        codes.split(';').for_each(|code| style.change(code));
        push(text, *style, svg);
    }
}

fn push(text: &str, style: Style, svg: &mut String) {
    if text.is_empty() {
        return;
    }
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    // Browsers draw several plain spaces as one.
    let text = text.replace(' ', "\u{a0}");
    if style == Style::default() {
        svg.push_str(&text);
        return;
    }
    svg.push_str("<tspan");
    if let Some(colour) = style.colour {
        let _ = write!(svg, " fill=\"{colour}\"");
    }
    if style.bold {
        svg.push_str(" font-weight=\"bold\"");
    }
    if style.dim {
        svg.push_str(" opacity=\"0.65\"");
    }
    let _ = write!(svg, ">{text}</tspan>");
}

impl Style {
    /// Follows one code of an escape sequence. Codes that the binary does not print change nothing.
    fn change(&mut self, code: &str) {
        match code.parse::<usize>().unwrap_or_default() {
            0 => *self = Self::default(),
            1 => self.bold = true,
            2 => self.dim = true,
            22 => (self.bold, self.dim) = (false, false),
            39 => self.colour = None,
            code @ 30..=37 => self.colour = COLOURS.get(code - 30).copied(),
            code @ 90..=97 => self.colour = COLOURS.get(code - 90).copied(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_become_spans_text_is_escaped_and_spaces_stay() {
        let svg = draw("\u{1b}[1;31merror:\u{1b}[0m  a<b\n$\n", 20);
        let drawn =
            "<tspan fill=\"#ff7b72\" font-weight=\"bold\">error:</tspan>\u{a0}\u{a0}a&lt;b</text>";
        assert!(svg.contains(drawn), "{svg}");
        assert_eq!(svg.matches("<text").count(), 1, "the last prompt is left out: {svg}");
    }
}
