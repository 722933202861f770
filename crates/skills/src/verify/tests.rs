//! Tests of the checks that a client makes.

use super::*;
use crate::entry::SkillFile;

const URI: &str = "skill://acme/pdf/SKILL.md";
const FORMS: &str = "skill://acme/pdf/references/my%20forms.md";
const TEXT: &str = "---\nname: pdf\ndescription: Read PDF\n---\nText\n";

fn skill() -> Skill {
    let frontmatter = Frontmatter::of_skill(TEXT).unwrap();
    let files = vec![SkillFile::of(URI, TEXT.as_bytes()), SkillFile::of(FORMS, b"Forms")];
    Skill::new(URI, frontmatter, files)
}

fn with_files(files: Vec<SkillFile>) -> Skill {
    Skill { files: SkillFiles::Listed(files), ..skill() }
}

fn problem(skill: &Skill) -> String {
    let error = skill.check(&SkillLimits::default()).unwrap_err();
    assert!(error.is_entry());
    error.to_string()
}

#[test]
fn what_the_entry_describes_is_accepted() {
    let skill = skill();
    assert_eq!(skill.check(&SkillLimits::default()), Ok(()));
    assert_eq!(skill.verify(URI, TEXT.as_bytes()), Ok(()));
    assert_eq!(skill.verify(FORMS, b"Forms"), Ok(()));
}

#[test]
fn another_size_digest_or_head_is_refused_and_named() {
    let mut skill = skill();
    let error = skill.verify(FORMS, b"Forms!").unwrap_err();
    assert!(error.is_size(), "{error}");
    assert_eq!(error.to_string(), format!("{FORMS} has the size 6; its entry has 5"));
    let error = skill.verify(FORMS, b"forms").unwrap_err();
    assert!(error.is_digest(), "{error}");
    let error = skill.verify("skill://acme/pdf/new.md", b"").unwrap_err();
    assert!(error.is_unlisted(), "{error}");

    let other = TEXT.replace("Read PDF", "Send it");
    skill.files =
        SkillFiles::Listed(vec![SkillFile::of(URI, other.as_bytes()), SkillFile::of(FORMS, b"")]);
    let error = skill.verify(URI, other.as_bytes()).unwrap_err();
    assert!(error.is_frontmatter(), "{error}");
    let expected = format!("the frontmatter of {URI} differs from its entry in `description`");
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_head_that_cannot_be_read_is_refused() {
    for (bytes, reason) in [(&b"Text"[..], "cannot be read: line 1"), (b"\xff", "is not UTF-8")] {
        let error = with_files(vec![SkillFile::of(URI, bytes)]).verify(URI, bytes).unwrap_err();
        assert!(error.is_frontmatter() && error.to_string().contains(reason), "{error}");
    }
}

#[test]
fn an_entry_lists_all_files_once_in_its_own_directory() {
    let own = || SkillFile::of(URI, TEXT.as_bytes());
    let listing = |uri: &str| problem(&with_files(vec![own(), SkillFile::of(uri, b"")]));
    assert!(listing(URI).ends_with("/SKILL.md twice"));
    for outside in [
        "skill://acme/other.md",
        "skill://acme/pdf",
        "skill://acme/pdf2/a.md",
        "skill://acme/pdf/../a.md",
        "skill://acme/pdf//a.md",
    ] {
        assert!(listing(outside).ends_with("which is not in its directory"), "{outside}");
    }
    assert!(problem(&with_files(Vec::new())).ends_with("does not list its `SKILL.md`"));
    let unreadable = Skill { files: SkillFiles::default(), ..skill() };
    assert!(problem(&unreadable).ends_with("cannot be read: `resources`: missing"));
    let dynamic = Skill { files: SkillFiles::Dynamic, ..skill() };
    assert!(problem(&dynamic).contains("has no digests"));
}

#[test]
fn the_uri_ends_in_the_name() {
    for uri in ["skill://acme/xls/SKILL.md", "skill://acme/pdf", "skill://acme/pdf/skill.md"] {
        let other = Skill { uri: uri.to_owned(), ..skill() };
        assert!(problem(&other).ends_with("does not end in `/pdf/SKILL.md`"), "{uri}");
    }
    let frontmatter = Frontmatter::of_skill(&TEXT.replace("name: pdf", "name: P")).unwrap();
    let uri = "skill://P/SKILL.md".to_owned();
    let other = Skill { uri, frontmatter, ..skill() };
    assert!(problem(&other).ends_with("the name `P`, which breaks the rules for names"));
}

// spec: SKL-15
#[test]
fn a_skill_as_large_as_the_limits_is_accepted_and_a_larger_one_is_not() {
    let limits = SkillLimits::default();
    let files = |count: usize| {
        let others = (1..count).map(|it| SkillFile::of(format!("skill://acme/pdf/{it}"), b""));
        with_files(others.chain([SkillFile::of(URI, b"")]).collect())
    };
    assert_eq!(files(512).check(&limits), Ok(()));
    assert!(problem(&files(513)).ends_with("lists 513 files; 512 are allowed"));
    let sized = |size: u64| {
        let mut file = SkillFile::of(URI, b"");
        file.size = size;
        with_files(vec![file])
    };
    assert_eq!(sized(16_777_216).check(&limits), Ok(()));
    let text = problem(&sized(16_777_217));
    assert!(text.ends_with("lists files of 16777217 bytes; 16777216 are allowed"), "{text}");
    assert!(sized(u64::MAX).check(&limits).is_err());
}

#[test]
fn a_reference_is_resolved_to_a_listed_file_only() {
    let skill = skill();
    for reference in ["references/my forms.md", "references/my%20forms.md", FORMS] {
        assert_eq!(skill.resolve(reference), Ok(FORMS), "{reference}");
    }
    for reference in ["references/other.md", "../xls/SKILL.md", "skill://acme/xls/SKILL.md"] {
        assert!(skill.resolve(reference).unwrap_err().is_unlisted(), "{reference}");
    }
}
