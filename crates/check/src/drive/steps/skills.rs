//! Skills of the extension: their list, their entries, their files and directories.

use serde_json::{Value, json};

use super::super::probe::Probe;
use super::features::list;
use crate::rules::SKILLS;

/// Skills of which one server shows enough.
const FEW: usize = 3;

pub(super) async fn reads(probe: &mut Probe) {
    let extensions = probe.watch.past().server_capabilities.get("extensions").cloned();
    let Some(settings) = extensions.as_ref().and_then(|it| it.get(SKILLS)) else { return };
    let has_directories = settings.get("directoryRead").is_some_and(|it| it == true);
    let skills = list(probe, "skills/list", "skills").await;
    let uris = skills.iter().filter_map(|skill| skill.get("uri").and_then(Value::as_str));
    for uri in uris.take(FEW) {
        probe.request("skills/get", json!({"uri": uri})).await;
        probe.request("resources/read", json!({"uri": uri})).await;
        if has_directories {
            let folder = uri.trim_end_matches("/SKILL.md");
            probe.request("resources/directory/read", json!({"uri": folder})).await;
            probe.request("resources/directory/read", json!({"uri": uri})).await;
        }
    }
    let unknown = json!({"uri": "skill://bowline-unknown/SKILL.md"});
    probe.request("skills/get", unknown).await;
}
