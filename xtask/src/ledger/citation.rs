//! Where tests and transcripts name the requirements that they guard.

use crate::tree::{File, Tree};

/// One id at one place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Citation {
    pub(super) id: String,
    pub(super) path: String,
    pub(super) line: usize,
}

/// Reads `// spec:` lines of Rust files and `spec:` lines in the headers of transcripts.
pub(super) fn read(tree: &Tree) -> Vec<Citation> {
    tree.files.iter().flat_map(citations).collect()
}

fn citations(file: &File) -> Vec<Citation> {
    let mut citations = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        if file.has_extension("mcp") && line.starts_with(['>', '<']) {
            break;
        }
        let Some(ids) = cited(file, line.trim()) else {
            continue;
        };
        let ids = ids.split([',', ' ']).filter(|id| !id.is_empty());
        citations.extend(ids.map(|id| Citation {
            id: id.to_owned(),
            path: file.path.clone(),
            line: index + 1,
        }));
    }
    citations
}

/// The text after `spec:` on a line that cites.
fn cited<'a>(file: &File, line: &'a str) -> Option<&'a str> {
    let text = if file.has_extension("mcp") {
        line.trim_start_matches('#')
    } else if file.has_extension("rs") && !file.path.starts_with("xtask/") {
        // The tests of this program contain citations as string literals.
        line.strip_prefix("//")?
    } else {
        return None;
    };
    text.trim_start().strip_prefix("spec:")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(path: &str, text: &str) -> Vec<(String, usize)> {
        let tree = Tree::of(&[(path, text)]);
        read(&tree).into_iter().map(|citation| (citation.id, citation.line)).collect()
    }

    #[test]
    fn a_comment_cites() {
        let source = "    // spec: RPC-1, RPC-2\n    #[test]\n    // spec:ST-3 ST-4\n";
        let expected = [("RPC-1", 1), ("RPC-2", 1), ("ST-3", 3), ("ST-4", 3)];
        assert_eq!(ids("a.rs", source), expected.map(|(id, line)| (id.to_owned(), line)));
    }

    #[test]
    fn prose_and_code_do_not() {
        assert_eq!(ids("a.rs", "/// See the spec: RPC-1.\nlet spec: RPC = 1; // a spec: b\n"), []);
        assert_eq!(ids("a.md", "spec: RPC-1\n"), []);
    }

    #[test]
    fn a_transcript_cites_in_its_header_only() {
        let text = "revision: 2026-07-28\nspec: RPC-1\n\n> {\"id\":1}\nspec: RPC-2\n";
        assert_eq!(ids("a.mcp", text), [("RPC-1".to_owned(), 2)]);
        assert_eq!(ids("a.mcp", "# spec: RPC-1\n"), [("RPC-1".to_owned(), 1)]);
    }
}
