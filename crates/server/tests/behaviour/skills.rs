//! Skills of a server: listed, read as resources, reloaded.

use std::path::Path;
use std::time::Duration;

use bowline_proto::request::ReportedChange;
use bowline_server::{Extension, Limits, Resource, Server, Skills};
use bowline_types::error::{ErrorObject, code};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use futures_util::poll;
use serde_json::{Value, json};

use crate::peer::{BOTH, EVERY, Peer};

fn manifest(name: &str) -> String {
    format!("---\nname: {name}\ndescription: About {name}\n---\n\nText\n")
}

fn skills() -> Skills {
    Skills::files([
        ("pdf/SKILL.md", manifest("pdf")),
        ("pdf/references/my forms.md", "Forms".to_owned()),
        ("pdf/references/deep/a.md", "A".to_owned()),
        ("acme/refunds/SKILL.md", manifest("refunds")),
    ])
    .unwrap()
}

fn server() -> Server {
    Server::new("manners", "1").skills(skills())
}

async fn ask(peer: &Peer, method: &str, params: Value) -> Result<Value, ErrorObject> {
    peer.ask(Method::named(method).unwrap(), params).await
}

async fn refused(peer: &Peer, method: &str, params: Value) -> String {
    let error = ask(peer, method, params).await.unwrap_err();
    assert_eq!(error.code, code::INVALID_PARAMS, "{error}");
    error.message.to_string()
}

fn uris(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|item| item["uri"].as_str().unwrap()).collect()
}

// spec: SKL-1, SKL-2
#[tokio::test]
async fn the_extension_and_resources_are_declared_in_every_revision() {
    for revision in EVERY {
        let peer = Peer::new(&server(), revision);
        let declared = peer.ask(Method::ServerDiscover, json!({})).await.unwrap();
        let capabilities = &declared["capabilities"];
        let expected = json!({ "io.modelcontextprotocol/skills": { "directoryRead": true } });
        assert_eq!(capabilities["extensions"], expected, "{revision}");
        assert!(capabilities["resources"].is_object());
    }
}

// spec: SKL-1, SKL-10, SKL-12, SKL-19
#[tokio::test]
async fn clients_that_did_not_declare_the_extension_list_skills_with_all_files() {
    for revision in EVERY {
        let peer = Peer::new(&server(), revision);
        let result = ask(&peer, "skills/list", json!({})).await.unwrap();
        assert_eq!(
            uris(&result["skills"]),
            ["skill://acme/refunds/SKILL.md", "skill://pdf/SKILL.md"]
        );
        let pdf = &result["skills"][1];
        let expected = json!({ "name": "pdf", "description": "About pdf" });
        assert_eq!(pdf["frontmatter"], expected);
        let forms = &pdf["resources"][2];
        assert_eq!(forms["uri"], "skill://pdf/references/my%20forms.md");
        assert_eq!(forms["size"], 5);
        let digest = "sha256:858451263b1b9b4125fd9fb9a40f5959543162e04a14aec2712a45882f2d6e54";
        assert_eq!(forms["digest"], digest);
        let one = ask(&peer, "skills/get", json!({ "uri": pdf["uri"] })).await.unwrap();
        assert_eq!(one["skill"], *pdf);
        assert_eq!(one.get("nextCursor"), None);
    }
}

// spec: SKL-17
#[tokio::test]
async fn caching_hints_are_sent_since_they_exist() {
    let server = Server::new("a", "1").skills(skills().ttl(Duration::from_secs(60)));
    for (method, params) in
        [("skills/list", json!({})), ("skills/get", json!({ "uri": "skill://pdf/SKILL.md" }))]
    {
        let modern =
            ask(&Peer::new(&server, Revision::LATEST), method, params.clone()).await.unwrap();
        assert_eq!((&modern["ttlMs"], &modern["cacheScope"]), (&json!(60_000), &json!("public")));
        let legacy =
            ask(&Peer::new(&server, Revision::LATEST_LEGACY), method, params).await.unwrap();
        assert_eq!((legacy.get("ttlMs"), legacy.get("cacheScope")), (None, None));
    }
    let peer = Peer::new(&server, Revision::LATEST);
    let request = peer.request(Method::ResourcesRead, &json!({ "uri": "skill://pdf/SKILL.md" }));
    assert_eq!(peer.send(request).await.unwrap().cache().ttl_ms(), 60_000);
}

// spec: SKL-19, SKL-25
#[tokio::test]
async fn what_is_not_there_is_refused_and_named() {
    for revision in BOTH {
        let peer = Peer::new(&server(), revision);
        for uri in ["skill://x/SKILL.md", "skill://pdf", "skill://pdf/references/deep/a.md", ""] {
            let message = refused(&peer, "skills/get", json!({ "uri": uri })).await;
            assert_eq!(message, format!("no skill is served at `{uri}`"));
        }
        assert!(refused(&peer, "skills/get", json!({})).await.contains("uri"));
        for uri in ["skill://x", "skill://pdf/", "skill://"] {
            let message = refused(&peer, "resources/directory/read", json!({ "uri": uri })).await;
            assert_eq!(message, format!("no directory is served at `{uri}`"));
        }
        let file = json!({ "uri": "skill://pdf/SKILL.md" });
        let message = refused(&peer, "resources/directory/read", file).await;
        assert!(message.ends_with("is a file; read it with `resources/read`"), "{message}");
        for uri in ["skill://pdf/x.md", "skill://pdf/../acme/refunds/SKILL.md", "skill://pdf"] {
            let error = peer.read(uri).await.unwrap_err();
            assert_eq!(error.data.unwrap().as_str(), json!({ "uri": uri }).to_string());
        }
    }
}

// spec: SKL-6, SKL-8
#[tokio::test]
async fn files_are_read_as_resources_and_the_list_has_manifests_only() {
    for revision in BOTH {
        let peer = Peer::new(&server(), revision);
        let listed = peer.ask(Method::ResourcesList, json!({})).await.unwrap();
        let listed = &listed["resources"];
        assert_eq!(uris(listed), ["skill://acme/refunds/SKILL.md", "skill://pdf/SKILL.md"]);
        assert_eq!(listed[1]["name"], "pdf");
        assert_eq!(listed[1]["description"], "About pdf");
        assert_eq!(listed[1]["mimeType"], "text/markdown");
        assert_eq!(listed[1]["size"], manifest("pdf").len());
        assert_eq!(peer.read_text("skill://pdf/SKILL.md").await, manifest("pdf"));
        let forms = peer.read("skill://pdf/references/my%20forms.md").await.unwrap();
        assert_eq!(
            (&forms[0]["text"], &forms[0]["mimeType"]),
            (&json!("Forms"), &json!("text/markdown"))
        );
    }
}

// spec: SKL-2, SKL-26
#[tokio::test]
async fn directories_list_their_children_page_by_page() {
    let server = server().page_size(1);
    let peer = Peer::new(&server, Revision::LATEST);
    let mut seen = Vec::new();
    let mut params = json!({ "uri": "skill://pdf/references" });
    loop {
        let page = ask(&peer, "resources/directory/read", params.clone()).await.unwrap();
        let [child] = &page["resources"].as_array().unwrap()[..] else { panic!("{page}") };
        seen.push(format!("{} {}", child["name"], child["mimeType"]));
        match page.get("nextCursor") {
            Some(cursor) => params["cursor"] = cursor.clone(),
            None => break,
        }
    }
    assert_eq!(seen, [r#""deep" "inode/directory""#, r#""my forms.md" "text/markdown""#]);
}

// spec: SKL-18
#[tokio::test]
async fn skills_are_listed_page_by_page_and_a_strange_cursor_is_refused() {
    let server = server().page_size(1);
    let peer = Peer::new(&server, Revision::LATEST);
    let first = ask(&peer, "skills/list", json!({})).await.unwrap();
    assert_eq!(uris(&first["skills"]), ["skill://acme/refunds/SKILL.md"]);
    let params = json!({ "cursor": first["nextCursor"] });
    let second = ask(&peer, "skills/list", params).await.unwrap();
    assert_eq!(uris(&second["skills"]), ["skill://pdf/SKILL.md"]);
    assert_eq!(second.get("nextCursor"), None);
    for cursor in ["", "x", "c29tZXRoaW5n", "===="] {
        let message = refused(&peer, "skills/list", json!({ "cursor": cursor })).await;
        assert!(message.starts_with("`params.cursor`: this list did not give it"), "{message}");
        let params = json!({ "uri": "skill://pdf", "cursor": cursor });
        refused(&peer, "resources/directory/read", params).await;
    }
}

// spec: SKL-18
#[tokio::test]
async fn a_page_of_large_skills_is_bounded_in_bytes() {
    let names: Vec<_> = (10..30).map(|number| format!("s{number}")).collect();
    let files = names.iter().flat_map(|name| {
        let others =
            (0..511).map(move |it| (format!("{name}/{}/{it}", "x".repeat(200)), String::new()));
        others.chain([(format!("{name}/SKILL.md"), manifest(name))])
    });
    let server = Server::new("large", "1").skills(Skills::files(files).unwrap());
    let peer = Peer::new(&server, Revision::LATEST);
    let mut params = json!({});
    let mut seen = 0;
    loop {
        let page = ask(&peer, "skills/list", params).await.unwrap();
        assert!(page.to_string().len() < 1_200_000);
        seen += page["skills"].as_array().unwrap().len();
        let Some(cursor) = page.get("nextCursor") else { break };
        params = json!({ "cursor": cursor });
    }
    assert_eq!(seen, names.len());
}

fn write(folder: &Path, path: &str, text: &str) {
    let file = folder.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

#[tokio::test]
async fn a_reload_changes_what_clients_get() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "pdf/SKILL.md", &manifest("pdf"));
    write(folder.path(), "xls/SKILL.md", &manifest("xls"));
    let skills = Skills::dir(folder.path()).unwrap();
    let server = Server::new("a", "1").skills(skills.clone());
    // A copy of the server is reloaded, too.
    let copy = server.clone().title("Copy");
    for server in [&server, &copy] {
        let peer = Peer::new(server, Revision::LATEST);
        assert_eq!(peer.read_text("skill://pdf/SKILL.md").await, manifest("pdf"));
    }

    let longer = manifest("pdf") + "More\n";
    write(folder.path(), "pdf/SKILL.md", &longer);
    write(folder.path(), "pdf/a.md", "A");
    std::fs::remove_dir_all(folder.path().join("xls")).unwrap();
    skills.reload().unwrap();
    for server in [&server, &copy] {
        let peer = Peer::new(server, Revision::LATEST);
        assert_eq!(peer.read_text("skill://pdf/SKILL.md").await, longer);
        assert_eq!(peer.read_text("skill://pdf/a.md").await, "A");
        let listed = peer.ask(Method::ResourcesList, json!({})).await.unwrap();
        assert_eq!(uris(&listed["resources"]), ["skill://pdf/SKILL.md"]);
        assert_eq!(listed["resources"][0]["size"], longer.len());
        assert!(peer.read("skill://xls/SKILL.md").await.is_err());
        let skills = ask(&peer, "skills/list", json!({})).await.unwrap();
        assert_eq!(skills["skills"][0]["resources"].as_array().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn a_reload_notifies_clients_of_changed_files() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "pdf/SKILL.md", &manifest("pdf"));
    write(folder.path(), "pdf/a.md", "A");
    write(folder.path(), "pdf/b.md", "B");
    let skills = Skills::dir(folder.path()).unwrap();
    let peer = Peer::new(&Server::new("a", "1").skills(skills.clone()), Revision::LATEST);
    let uris = ["skill://pdf/a.md", "skill://pdf/b.md"];
    let wish = json!({ "notifications": {
        "resourcesListChanged": true, "resourceSubscriptions": uris,
    }});
    let mut listening = peer.begin(peer.request(Method::SubscriptionsListen, &wish));
    assert!(poll!(&mut listening).is_pending());
    assert_eq!(peer.inbox.changes().len(), 1, "acknowledged");
    write(folder.path(), "pdf/a.md", "Another");
    skills.reload().unwrap();
    assert!(poll!(&mut listening).is_pending());
    let updated = ReportedChange::Resource("skill://pdf/a.md".to_owned());
    assert_eq!(peer.inbox.changes(), [ReportedChange::Resources, updated]);
}

#[test]
fn skills_are_offered_once_and_do_not_take_the_uris_of_others() {
    let error = |server: Server| server.build().unwrap_err().to_string();
    let twice = server().skills(skills());
    assert_eq!(error(twice), "`.skills(..)` was called twice; put all skills into one folder");
    let taken = server().resource(Resource::new("skill://pdf/SKILL.md", || async { "" }));
    assert_eq!(error(taken), "two resources have the URI `skill://pdf/SKILL.md`");
    let extension = Extension::new("io.modelcontextprotocol/skills");
    let declared = server().extension(extension);
    assert!(error(declared).contains("`io.modelcontextprotocol/skills` was added twice"));
}

/// Limits with results that are shorter than the files of a skill may be.
fn short_results() -> Limits {
    let mut limits = Limits::default();
    limits.result = 1024 * 1024;
    limits
}

#[test]
fn a_file_that_cannot_be_sent_is_found_when_the_server_is_built() {
    let most = short_results().result;
    let with = |text: String| {
        let skills = Skills::files([("pdf/SKILL.md", manifest("pdf")), ("pdf/a", text)]).unwrap();
        Server::new("a", "1")
            .limits(short_results())
            .skills(skills)
            .build()
            .map(drop)
            .map_err(|it| it.to_string())
    };
    assert_eq!(with("a".repeat(most - 1000)), Ok(()));
    for long in ["a".repeat(most), "\n".repeat(most - 1000)] {
        let error = with(long).unwrap_err();
        assert!(error.starts_with("skill://pdf/a is too long to be sent: a result may"), "{error}");
    }
}

#[tokio::test]
async fn a_reload_with_a_file_that_cannot_be_sent_fails_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "pdf/SKILL.md", &manifest("pdf"));
    write(folder.path(), "pdf/a.md", "A");
    let skills = Skills::dir(folder.path()).unwrap();
    let server = Server::new("a", "1").limits(short_results()).skills(skills.clone());
    let peer = Peer::new(&server, Revision::LATEST);
    let most = short_results().result;
    for long in ["a".repeat(most), "\n".repeat(most - 1000)] {
        write(folder.path(), "pdf/a.md", &long);
        let error = skills.reload().unwrap_err().to_string();
        let expected = "skill://pdf/a.md: is too long to be sent: a result may have";
        assert!(error.starts_with(expected), "{error}");
        assert_eq!(peer.read_text("skill://pdf/a.md").await, "A");
    }
    drop((peer, server));
    // Without a server there is nothing that could not send it.
    skills.reload().unwrap();
}

// spec: SKL-18, SKL-19
#[tokio::test]
async fn skills_of_mounted_servers_are_listed_and_found() {
    let one = |name: &str| Skills::files([(format!("{name}/SKILL.md"), manifest(name))]).unwrap();
    let with = |name: &str| Server::new("shop", "1").skills(one(name));
    let hub = with("own").page_size(1).mount("a", with("from-a")).mount("b", server());
    for revision in BOTH {
        let peer = Peer::new(&hub, revision);
        let declared = peer.ask(Method::ServerDiscover, json!({})).await.unwrap();
        let expected = json!({ "io.modelcontextprotocol/skills": { "directoryRead": true } });
        assert_eq!(declared["capabilities"]["extensions"], expected);
        let (mut found, mut params) = (Vec::new(), json!({}));
        loop {
            let page = ask(&peer, "skills/list", params).await.unwrap();
            found.extend(uris(&page["skills"]).into_iter().map(str::to_owned));
            assert_eq!(page["ttlMs"].is_number(), revision == Revision::LATEST);
            let Some(next) = page["nextCursor"].as_str() else { break };
            params = json!({ "cursor": next });
        }
        let expected = [
            "skill://own/SKILL.md",
            "skill://from-a/SKILL.md",
            "skill://acme/refunds/SKILL.md",
            "skill://pdf/SKILL.md",
        ];
        assert_eq!(found, expected, "{revision}");
        for uri in expected {
            let one = ask(&peer, "skills/get", json!({ "uri": uri })).await.unwrap();
            assert_eq!(one["skill"]["uri"], uri);
            assert!(peer.read_text(uri).await.starts_with("---"));
        }
        let listed = ask(&peer, "resources/directory/read", json!({ "uri": "skill://pdf" })).await;
        assert!(!uris(&listed.unwrap()["resources"]).is_empty());
        let message = refused(&peer, "skills/get", json!({ "uri": "skill://x/SKILL.md" })).await;
        assert!(message.contains("no skill is served at `skill://x/SKILL.md`"), "{message}");
    }
}

#[tokio::test]
async fn a_server_without_skills_passes_on_those_of_a_mounted_one() {
    let hub = Server::new("hub", "1").mount("manners", server());
    let peer = Peer::new(&hub, Revision::LATEST);
    let page = ask(&peer, "skills/list", json!({})).await.unwrap();
    assert_eq!(uris(&page["skills"]).len(), 2);
    assert!(page["cacheScope"].is_string());
}
