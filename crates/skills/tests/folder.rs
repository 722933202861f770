//! Folders of skills, as a server reads them.

use std::fs;
use std::path::Path;

use bowline_skills::{Digest, SkillError, SkillLimits, Skills};
use tempfile::TempDir;

/// The text of a `SKILL.md`.
fn manifest(name: &str) -> String {
    format!("---\nname: {name}\ndescription: About {name}\n---\n\nText\n")
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        write(folder.path(), path, text);
    }
    folder
}

fn write(folder: &Path, path: &str, text: &str) {
    let file = folder.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// What is wrong with a folder, with paths below it.
fn problem(folder: &TempDir) -> String {
    let error = Skills::dir(folder.path()).unwrap_err();
    below(&error, folder)
}

fn below(error: &SkillError, folder: &TempDir) -> String {
    let start = format!("{}/", folder.path().display());
    error.to_string().replace(&start, "")
}

fn problem_of(files: &[(&str, &str)]) -> String {
    problem(&folder(files))
}

// spec: SKL-11, SKL-12
#[test]
fn each_folder_with_a_manifest_is_a_skill() {
    let folder = folder(&[
        ("pdf/SKILL.md", &manifest("pdf")),
        ("pdf/references/my forms.md", "Forms"),
        ("pdf/references/deep/a.md", "A"),
        ("acme/refunds/SKILL.md", &manifest("refunds")),
        ("README.md", "belongs to no skill"),
        ("drafts/idea.md", "belongs to no skill"),
        (".git/SKILL.md", "hidden"),
        ("pdf/.env", "hidden"),
    ]);
    let skills = Skills::dir(folder.path()).unwrap().current();
    let uris: Vec<_> = skills.skills().iter().map(|skill| skill.uri.as_str()).collect();
    assert_eq!(uris, ["skill://acme/refunds/SKILL.md", "skill://pdf/SKILL.md"]);
    let pdf = skills.skill("skill://pdf/SKILL.md").unwrap();
    let files: Vec<_> = pdf.files.listed().iter().map(|file| file.uri.as_str()).collect();
    let expected = [
        "skill://pdf/SKILL.md",
        "skill://pdf/references/deep/a.md",
        "skill://pdf/references/my%20forms.md",
    ];
    assert_eq!(files, expected);
    let forms = pdf.file(expected[2]).unwrap();
    assert_eq!((forms.size, forms.digest), (5, Digest::of(b"Forms")));
    assert_eq!(pdf.check(&SkillLimits::default()), Ok(()));
    for hidden in ["skill://pdf/.env", "skill://README.md", "skill://drafts/idea.md"] {
        assert!(skills.file(hidden).is_none(), "{hidden}");
    }
}

// spec: SKL-11
#[test]
fn a_nested_skill_is_a_skill_and_its_files_are_also_those_of_the_outer_one() {
    let folder = folder(&[
        ("outer/SKILL.md", &manifest("outer")),
        ("outer/inner/SKILL.md", &manifest("inner")),
        ("outer/inner/a.md", "A"),
    ]);
    let skills = Skills::dir(folder.path()).unwrap().current();
    let counts: Vec<_> = skills.skills().iter().map(|it| it.files.listed().len()).collect();
    assert_eq!(counts, [3, 2], "outer, inner");
    assert_eq!(skills.skills()[1].uri, "skill://outer/inner/SKILL.md");
}

// spec: SKL-2, SKL-26
#[test]
fn directories_list_their_children() {
    let folder = folder(&[
        ("acme/pdf/SKILL.md", &manifest("pdf")),
        ("acme/pdf/references/deep/a.md", "A"),
        ("acme/pdf/b.bin", "B"),
    ]);
    let skills = Skills::dir(folder.path()).unwrap().current();
    let children = |uri: &str| {
        let children = skills.directory(uri)?.iter();
        let show = |it: &bowline_types::resource::ResourceDefinition| {
            format!("{} {}", it.name, it.mime_type.as_deref().unwrap_or_default())
        };
        Some(children.map(show).collect::<Vec<_>>().join(", "))
    };
    assert_eq!(children("skill://acme").unwrap(), "pdf inode/directory");
    let expected = "pdf text/markdown, b.bin text/plain, references inode/directory";
    assert_eq!(children("skill://acme/pdf").unwrap(), expected);
    assert_eq!(children("skill://acme/pdf/references").unwrap(), "deep inode/directory");
    assert_eq!(children("skill://acme/pdf/references/deep").unwrap(), "a.md text/markdown");
    for other in ["skill://", "skill://acme/", "skill://acme/pdf/SKILL.md", "skill://x"] {
        assert_eq!(children(other), None, "{other}");
    }
}

// spec: SKL-4, SKL-5
#[test]
fn a_bad_manifest_is_named_with_its_line() {
    for (text, expected) in [
        ("# PDF", "pdf/SKILL.md, line 1: the file must begin with a line `---`"),
        ("---\nname: pdf\n---\n", "pdf/SKILL.md: the frontmatter has no `description`"),
        ("---\nname: pdf\ndescription: a\nx: *y\n---\n", "pdf/SKILL.md, line 4: not YAML"),
        ("---\nname: PDF\ndescription: a\n---\n", "pdf/SKILL.md: `PDF` cannot be the name"),
        (
            "---\nname: xls\ndescription: a\n---\n",
            "pdf/SKILL.md: the skill is named `xls`, but its folder `pdf`",
        ),
    ] {
        let problem = problem_of(&[("pdf/SKILL.md", text)]);
        assert!(problem.starts_with(expected), "{problem}");
    }
    let long = format!("---\nname: pdf\ndescription: {}\n---\n", "é".repeat(1025));
    let problem = problem_of(&[("pdf/SKILL.md", &long)]);
    assert_eq!(problem, "pdf/SKILL.md: `description` has 1025 characters; 1024 are allowed");
}

#[test]
fn a_misplaced_manifest_is_named() {
    let problem = problem_of(&[("SKILL.md", &manifest("pdf"))]);
    assert!(problem.starts_with("SKILL.md: a skill stands in a folder with its name"), "{problem}");
    let problem = problem_of(&[("pdf/skill.md", &manifest("pdf"))]);
    assert!(problem.starts_with("pdf/skill.md: the file must be called `SKILL.md`"), "{problem}");
    let missing = Skills::dir("no/such/folder").unwrap_err().to_string();
    assert!(missing.starts_with("no/such/folder: cannot be read: "), "{missing}");
}

#[cfg(unix)]
#[test]
fn links_are_refused_and_never_followed() {
    let secret = folder(&[("secret.txt", "secret"), ("out/SKILL.md", &manifest("out"))]);
    for (target, link) in [
        ("secret.txt", "pdf/a.txt"),
        ("out", "pdf/folder"),
        ("out", "out"),
        ("secret.txt", "SKILL.md"),
        ("nothing", "pdf/broken"),
    ] {
        let folder = folder(&[("pdf/SKILL.md", &manifest("pdf"))]);
        let target = secret.path().join(target);
        std::os::unix::fs::symlink(target, folder.path().join(link)).unwrap();
        let expected = format!("{link}: links are not followed; copy the file, or remove the link");
        assert_eq!(problem(&folder), expected);
    }
}

// spec: SKL-16
#[test]
fn a_skill_that_exceeds_a_limit_is_refused() {
    let folder = folder(&[
        ("pdf/SKILL.md", &manifest("pdf")),
        ("pdf/a.md", &"a".repeat(100)),
        ("xls/SKILL.md", &manifest("xls")),
    ]);
    let all = SkillLimits::default();
    let refused = |limits: SkillLimits| {
        let error = Skills::dir_within(folder.path(), limits).unwrap_err();
        below(&error, &folder)
    };
    let own = manifest("pdf").len() as u64;
    let exact = SkillLimits {
        files: 2,
        bytes: own + 100,
        skills: 2,
        bytes_in_all: 2 * own + 100,
        depth: 1,
    };
    assert!(Skills::dir_within(folder.path(), exact).is_ok());
    let few = refused(SkillLimits { files: 1, ..all.clone() });
    assert_eq!(few, "pdf/SKILL.md: the skill has 2 files; 1 are allowed");
    let small = refused(SkillLimits { bytes: own + 99, ..all.clone() });
    let expected = format!(
        "pdf/SKILL.md: the files of the skill have {} bytes; {} are allowed",
        own + 100,
        own + 99
    );
    assert_eq!(small, expected);
    let tiny = refused(SkillLimits { bytes: 60, ..all.clone() });
    assert_eq!(tiny, "pdf/a.md: longer than 60 bytes");
    let one = refused(SkillLimits { skills: 1, ..all.clone() });
    assert!(one.ends_with(": 2 skills; 1 are allowed"), "{one}");
    let total = refused(SkillLimits { bytes_in_all: 2 * own + 99, ..all.clone() });
    assert!(total.starts_with("xls/SKILL.md: all skills together exceed "), "{total}");
    write(folder.path(), "pdf/deep/a.md", "A");
    let deep = refused(SkillLimits { depth: 1, ..all });
    assert_eq!(deep, "pdf/deep: folders are nested deeper than 1");
}

#[test]
fn a_reload_shows_the_new_files_or_keeps_the_old_ones() {
    let folder = folder(&[("pdf/SKILL.md", &manifest("pdf"))]);
    let skills = Skills::dir(folder.path()).unwrap();
    let before = skills.current();
    write(folder.path(), "pdf/a.md", "A");
    assert!(skills.current().file("skill://pdf/a.md").is_none(), "read before");
    let (tell, told) = std::sync::mpsc::channel();
    skills.on_reload(move |old, new| {
        let count = |it: &bowline_skills::Catalogue| it.skills()[0].files.listed().len();
        tell.send((count(old), count(new))).unwrap();
        false
    });
    skills.reload().unwrap();
    assert!(skills.current().file("skill://pdf/a.md").is_some());
    assert!(before.file("skill://pdf/a.md").is_none());
    assert_eq!(told.recv(), Ok((1, 2)));

    write(folder.path(), "pdf/SKILL.md", "broken");
    let error = skills.reload().unwrap_err();
    assert_eq!(error.line(), Some(1));
    assert!(skills.current().file("skill://pdf/a.md").is_some(), "the old ones stay");
    assert!(told.recv().is_err(), "the listener returned `false`");
}

#[test]
fn files_of_the_program_are_checked_in_the_same_way() {
    let text = manifest("pdf");
    let skills = Skills::files([("pdf/SKILL.md", text.clone()), ("pdf/a.md", "A".to_owned())]);
    let skills = skills.unwrap().current();
    assert_eq!(skills.file("skill://pdf/a.md").unwrap().contents().as_text(), Some("A"));
    for path in ["../a.md", "pdf//a.md", "pdf/../a.md", "/pdf/a.md", "pdf/.env", "pdf\\a.md", ""] {
        let error = Skills::files([("pdf/SKILL.md", text.clone()), (path, "A".to_owned())]);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("not a plain path"), "{path}: {error}");
    }
    let stray = Skills::files([("xls/a.md", "A")]).unwrap_err().to_string();
    assert!(stray.starts_with("xls/a.md: belongs to no skill"), "{stray}");
    let twice = Skills::files([("pdf/SKILL.md", text.clone()), ("pdf/SKILL.md", text)]);
    assert!(twice.unwrap_err().to_string().contains("two files with this path"));
}

#[test]
fn bytes_that_are_no_text_are_read_as_bytes() {
    let text = manifest("pdf");
    let skills =
        Skills::files([("pdf/SKILL.md", text.as_bytes().to_vec()), ("pdf/a.png", vec![255, 0])]);
    let skills = skills.unwrap().current();
    let contents = skills.file("skill://pdf/a.png").unwrap().contents();
    assert_eq!(contents.to_bytes().unwrap(), [255, 0]);
    assert_eq!(contents.as_text(), None);
    assert_eq!(contents.mime_type.as_deref(), Some("image/png"));
}
