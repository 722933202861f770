//! Skills with which the suite tests the skills extension.

use bowline::Skills;

/// The files of a folder, compiled in.
macro_rules! files {
    ($($path:literal),* $(,)?) => {
        [$(($path, include_str!(concat!("../skills/", $path)))),*]
    };
}

/// The skills of the everything-server.
///
/// # Panics
///
/// If a file in `conformance/skills` is wrong.
pub(crate) fn skills() -> Skills {
    let skills = Skills::files(files![
        "harbour/entering/SKILL.md",
        "harbour/entering/checklist.md",
        "harbour/entering/signals/lights.md",
        "knots/SKILL.md",
        "knots/references/purposes.md",
        "knots/scripts/length.py",
    ]);
    skills.expect("the skills follow the rules")
}
