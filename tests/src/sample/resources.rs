//! Servers with resources: single ones and templates, plain, with all optional members, many,
//! hidden, and asking.

use std::collections::BTreeMap;
use std::time::Duration;

use bowline::{Ask, Context, Error, Json, Resource, Server, resource, resources};
use bowline_types::content::{Annotations, Role};
use bowline_types::implementation::Icon;
use bowline_types::resource::ResourceContents;

use super::tools::CRASH;

/// Every kind of contents, and every kind of failure.
pub(super) fn shelf(server: Server) -> Server {
    server.resources(resources![note, picture, folder, whose, missing, broken, barred, collapsing])
}

/// Templates, and a resource that has precedence over a template.
pub(super) fn families(server: Server) -> Server {
    server.resources(resources![profile, page, front_page, product])
}

/// A resource and a template with every optional member.
pub(super) fn adorned(server: Server) -> Server {
    let annotations = Annotations::new()
        .with_audience(Role::User)
        .with_audience(Role::Assistant)
        .with_priority(0.5)
        .with_last_modified("2026-07-28T12:00:00Z");
    let icon = Icon::new("https://example.com/fence.png");
    let fence = Resource::new("fence://front", || async { "green" })
        .name("front")
        .title("The Front Fence")
        .describe("What the fence looks like")
        .mime("text/x-fence")
        .size(5)
        .annotate(annotations.clone())
        .icon(icon.clone())
        .meta("example.com/length", &12)
        .ttl(Duration::from_secs(60));
    let post = |number: u32| async move { format!("post {number}") };
    let posts = Resource::template("fence://front/{number}", post)
        .name("post")
        .title("A Post")
        .describe("One post of the fence")
        .annotate(annotations)
        .icon(icon)
        .meta("example.com/height", &2);
    server.resource(fence).resource(posts)
}

/// Five resources and three templates, two to a page.
pub(super) fn pages(server: Server) -> Server {
    let leaf = |number: u8| Resource::new(format!("leaf://{number}"), move || leaf(number));
    let branch = |name: &str| {
        Resource::template(format!("{name}://{{leaf}}"), |leaf: String| async move { leaf })
    };
    let server = server.page_size(2).ttl(Duration::from_secs(60));
    server.resources((1..=5).map(leaf)).resources(["oak", "elm", "ash"].map(branch))
}

/// Resources that only callers with roots may see, and one for all.
pub(super) fn hidden(server: Server) -> Server {
    let has_roots = |caller: &bowline_proto::request::Parts| {
        let capabilities = &caller.client.capabilities;
        capabilities.roots.is_some()
    };
    let plan = Resource::new("plan://open", || async { "for all" });
    let secret = Resource::new("plan://secret", || async { "for some" }).visible(has_roots);
    let drafts =
        Resource::template("draft://{number}", |number: u32| async move { number.to_string() })
            .visible(has_roots);
    server.resources([plan, secret, drafts])
}

/// A resource that asks the user.
pub(super) fn asks(server: Server) -> Server {
    server.resources(resources![diary])
}

/// A server without resource subscriptions.
pub(super) fn still(server: Server) -> Server {
    server.without_subscriptions().resources(resources![note])
}

async fn leaf(number: u8) -> String {
    format!("leaf {number}")
}

/// A note
#[resource("notes://today", ttl = Duration::from_secs(60))]
fn note() -> &'static str {
    "Buy \"tea\",\nüber all"
}

/// A picture
#[resource("picture://logo", mime = "image/png")]
fn picture() -> Vec<u8> {
    vec![0x89, b'P', b'N', b'G', 0, 0xff]
}

/// A folder
#[resource("folder://all", mime = "inode/directory")]
fn folder() -> Vec<ResourceContents> {
    vec![
        ResourceContents::text("folder://all/a.txt", "a").with_mime_type("text/plain"),
        ResourceContents::blob("folder://all/b.bin", b"b"),
    ]
}

/// Whose session it is
#[resource("notes://whose")]
fn whose(context: Context) -> String {
    context.client().map_or_else(|| "a nameless client's".to_owned(), |client| client.name.clone())
}

/// Not there, as it turns out
#[resource("notes://missing")]
fn missing() -> Option<String> {
    None
}

/// Cannot be read
#[resource("notes://broken")]
fn broken() -> bowline::Result<String> {
    Err("the disk is gone")?
}

/// Refused for a reason of its own
#[resource("notes://barred")]
fn barred() -> bowline::Result<String> {
    Err(Error::rpc(17, "not today").with_data(&BTreeMap::from([("until", "tomorrow")])))
}

/// Breaks down
#[resource("notes://collapsing")]
fn collapsing() -> String {
    panic!("{CRASH}")
}

/// The user with a number
#[resource("users://{id}/profile")]
fn profile(id: u32) -> Option<Json<BTreeMap<&'static str, u32>>> {
    (id < 100).then(|| Json(BTreeMap::from([("id", id)])))
}

/// A page of the handbook
#[resource("book:///{+path}", mime = "text/markdown")]
fn page(path: String) -> String {
    format!("# {path}")
}

/// The page that comes first
#[resource("book:///index.md", mime = "text/markdown")]
fn front_page() -> &'static str {
    "# Welcome"
}

/// A product of two numbers
#[resource("product://{a}{?b,note}")]
fn product(a: u32, b: Option<u32>, note: Option<String>) -> String {
    format!("{} {}", a * b.unwrap_or(1), note.unwrap_or_default()).trim_end().to_owned()
}

/// What the user wrote about the day
#[resource("diary://today", ttl = Duration::from_secs(60))]
async fn diary(ask: Ask) -> bowline::Result<String> {
    let sure = ask.confirm("Open the diary?").await?;
    Ok(if sure { "It rained".to_owned() } else { "It stays shut".to_owned() })
}
