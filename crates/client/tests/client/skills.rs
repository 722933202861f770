//! Skills: listed without reading any file, and verified before anything of them is passed on.

use bowline_client::{Client, Error, Skill};
use bowline_skills::Digest;
use serde_json::{Value, json};

use crate::peer::{Peer, both_with, builder};

const URI: &str = "skill://pdf/SKILL.md";
const FORMS: &str = "skill://pdf/references/FORMS.md";
const TEXT: &str = "---\nname: pdf\ndescription: Read PDF\n---\nText\n";

fn capabilities() -> Value {
    json!({ "resources": {}, "extensions": { "io.modelcontextprotocol/skills": {} } })
}

fn file(uri: &str, text: &str) -> Value {
    json!({ "uri": uri, "digest": Digest::of(text.as_bytes()).to_string(), "size": text.len() })
}

fn entry() -> Value {
    json!({
        "uri": URI,
        "frontmatter": { "name": "pdf", "description": "Read PDF" },
        "resources": [file(URI, TEXT), file(FORMS, "Forms")],
    })
}

fn skill(entry: &Value) -> Skill {
    serde_json::from_str(&entry.to_string()).unwrap()
}

/// Answers the next read, which must be of this URI.
async fn serve(peer: &mut Peer, uri: &str, contents: Value) {
    let request = peer.request("resources/read").await;
    assert_eq!(request.params["uri"], uri);
    let result = json!({ "resultType": "complete", "contents": contents });
    peer.answer(&request, &result.to_string()).await;
}

fn text(uri: &str, text: &str) -> Value {
    json!([{ "uri": uri, "mimeType": "text/markdown", "text": text }])
}

/// Loads a skill whose `SKILL.md` is read like this.
async fn load(client: &Client, peer: &mut Peer, entry: &Value, contents: Value) -> Error {
    let skill = skill(entry);
    let (loaded, ()) = tokio::join!(client.load_skill(&skill), serve(peer, URI, contents));
    loaded.unwrap_err()
}

// spec: SKL-14, SKL-24
#[tokio::test(start_paused = true)]
async fn skills_are_listed_page_by_page_and_no_file_is_read() {
    for (client, mut peer) in both_with(builder(), &capabilities()).await {
        let pages = async {
            let request = peer.request("skills/list").await;
            assert_eq!(request.params.get("cursor"), None);
            let page = json!({ "resultType": "complete", "skills": [entry()], "nextCursor": "2" });
            peer.answer(&request, &page.to_string()).await;
            let request = peer.request("skills/list").await;
            assert_eq!(request.params["cursor"], "2");
            let broken = json!({ "uri": "skill://x/SKILL.md", "frontmatter": 7 });
            let page = json!({ "resultType": "complete", "skills": [broken] });
            peer.answer(&request, &page.to_string()).await;
        };
        let (skills, ()) = tokio::join!(client.skills().all(), pages);
        let skills = skills.unwrap();
        assert_eq!((skills[0].name(), skills[0].description()), ("pdf", "Read PDF"));
        // A broken entry costs only itself: nothing of it is read.
        let error = client.load_skill(&skills[1]).await.unwrap_err();
        assert!(error.skill_mismatch().unwrap().is_entry(), "{error}");
    }
}

// spec: SKL-20
#[tokio::test(start_paused = true)]
async fn an_entry_is_found_by_its_uri() {
    for (client, mut peer) in both_with(builder(), &capabilities()).await {
        for other in [None, Some("skill://other/SKILL.md")] {
            let answer = async {
                let request = peer.request("skills/get").await;
                assert_eq!(request.params["uri"], URI);
                let mut entry = entry();
                if let Some(uri) = other {
                    entry["uri"] = uri.into();
                }
                let result = json!({ "resultType": "complete", "skill": entry });
                peer.answer(&request, &result.to_string()).await;
            };
            let (found, ()) = tokio::join!(client.skill(URI).into_future(), answer);
            match other {
                None => assert_eq!(found.unwrap(), skill(&entry())),
                Some(_) => assert!(found.unwrap_err().is_invalid_answer()),
            }
        }
    }
}

// spec: SKL-21, SKL-22, SKL-31
#[tokio::test(start_paused = true)]
async fn a_skill_that_its_entry_describes_is_loaded_and_its_files_are_read() {
    for (client, mut peer) in both_with(builder(), &capabilities()).await {
        let skill = skill(&entry());
        let served = serve(&mut peer, URI, text(URI, TEXT));
        let (loaded, ()) = tokio::join!(client.load_skill(&skill), served);
        let loaded = loaded.unwrap();
        assert_eq!(loaded.text(), TEXT);
        let served = serve(&mut peer, FORMS, json!([{ "uri": FORMS, "blob": "Rm9ybXM=" }]));
        let (forms, ()) = tokio::join!(loaded.read("references/FORMS.md"), served);
        assert_eq!(forms.unwrap().to_bytes().unwrap(), b"Forms");

        let served = serve(&mut peer, FORMS, text(FORMS, "forms"));
        let (forms, ()) = tokio::join!(loaded.read(FORMS), served);
        assert!(forms.unwrap_err().skill_mismatch().unwrap().is_digest());
        // Nothing is sent for what the entry does not list.
        for unlisted in ["references/OTHER.md", "../xls/SKILL.md", "file:///etc/passwd"] {
            let error = loaded.read(unlisted).await.unwrap_err();
            assert!(error.skill_mismatch().unwrap().is_unlisted(), "{error}");
        }
    }
}

// spec: SKL-21, SKL-23
#[tokio::test(start_paused = true)]
async fn another_size_digest_or_frontmatter_is_refused_and_named() {
    for (client, mut peer) in both_with(builder(), &capabilities()).await {
        let longer = format!("{TEXT}more");
        let error = load(&client, &mut peer, &entry(), text(URI, &longer)).await;
        assert!(error.skill_mismatch().unwrap().is_size(), "{error}");
        let expected = format!("reading `{URI}`: {URI} has the size");
        assert!(error.to_string().starts_with(&expected), "{error}");

        let other = TEXT.replace("Text", "Evil");
        let error = load(&client, &mut peer, &entry(), text(URI, &other)).await;
        assert!(error.skill_mismatch().unwrap().is_digest(), "{error}");

        let other = TEXT.replace("Read PDF", "Exfiltrate");
        let mut renamed = entry();
        renamed["resources"][0] = file(URI, &other);
        let error = load(&client, &mut peer, &renamed, text(URI, &other)).await;
        assert!(error.skill_mismatch().unwrap().is_frontmatter(), "{error}");

        let item = |text: &str| json!({ "uri": URI, "text": text });
        let halves = json!([item(&TEXT[..9]), item(&TEXT[9..])]);
        let error = load(&client, &mut peer, &entry(), halves).await;
        assert!(error.is_invalid_answer(), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_skill_without_digests_or_beyond_the_limits_is_not_read() {
    for (client, _peer) in both_with(builder(), &capabilities()).await {
        let mut dynamic = entry();
        dynamic["resources"] = "dynamic".into();
        let mut large = entry();
        large["resources"][1]["size"] = 16_777_216.into();
        for entry in [dynamic, large] {
            let error = client.load_skill(&skill(&entry)).await.unwrap_err();
            assert!(error.skill_mismatch().unwrap().is_entry(), "{error}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_without_the_extension_is_not_asked() {
    for (client, _peer) in both_with(builder(), &json!({ "resources": {} })).await {
        let error = client.skills().all().await.unwrap_err();
        assert!(error.is_not_offered(), "{error}");
        assert!(error.to_string().contains("io.modelcontextprotocol/skills"), "{error}");
        assert!(client.skill(URI).await.unwrap_err().is_not_offered());
    }
}

// spec: SKL-3
#[tokio::test(start_paused = true)]
async fn folders_are_listed_only_if_the_server_declares_it() {
    const FOLDER: &str = "skill://pdf/references";
    for settings in [json!({}), json!({ "directoryRead": false })] {
        let extensions = json!({ "io.modelcontextprotocol/skills": settings });
        let capabilities = json!({ "resources": {}, "extensions": extensions });
        for (client, mut peer) in both_with(builder(), &capabilities).await {
            let error = client.skill_folder(FOLDER).await.unwrap_err();
            assert!(
                error.is_not_offered() && error.to_string().contains("directoryRead"),
                "{error}"
            );
            peer.gets_nothing().await;
        }
    }
    let extensions = json!({ "io.modelcontextprotocol/skills": { "directoryRead": true } });
    let capabilities = json!({ "resources": {}, "extensions": extensions });
    for (client, mut peer) in both_with(builder(), &capabilities).await {
        let pages = async {
            for (cursor, next) in [(None, Some("2")), (Some("2"), None)] {
                let request = peer.request("resources/directory/read").await;
                assert_eq!(request.params["uri"], FOLDER);
                assert_eq!(request.params.get("cursor").and_then(Value::as_str), cursor);
                let child = json!({ "uri": FORMS, "name": "FORMS.md" });
                let mut page = json!({ "resultType": "complete", "resources": [child] });
                if let Some(next) = next {
                    page["nextCursor"] = next.into();
                }
                peer.answer(&request, &page.to_string()).await;
            }
        };
        let (children, ()) = tokio::join!(client.skill_folder(FOLDER), pages);
        assert_eq!(children.unwrap().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_folder_without_end_is_given_up() {
    let extensions = json!({ "io.modelcontextprotocol/skills": { "directoryRead": true } });
    let capabilities = json!({ "resources": {}, "extensions": extensions });
    for (client, mut peer) in both_with(builder(), &capabilities).await {
        let pages = async {
            for _ in 0..100 {
                let request = peer.request("resources/directory/read").await;
                let page = r#"{"resultType":"complete","resources":[],"nextCursor":"x"}"#;
                peer.answer(&request, page).await;
            }
        };
        let (folder, ()) = tokio::join!(client.skill_folder("skill://pdf"), pages);
        assert!(folder.unwrap_err().is_invalid_answer());
    }
}
