//! URLs that lead to addresses of this machine and of its network: as literals, by DNS, by redirects,
//! and by names that change their address.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicUsize, Ordering};

use bowline_auth::fetch::MOST_ANSWER;
use bowline_auth::form::Form;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::super::*;

const PUBLIC_MCP: &str = "https://mcp.example/mcp";
const OWN_MCP: &str = "http://127.0.0.1:3000/mcp";

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

/// A client's fetcher.
fn fetcher(mcp: &str) -> GuardedFetcher {
    GuardedFetcher::for_client(&url(mcp))
}

/// The text of the error of a GET.
async fn refusal(fetcher: &GuardedFetcher, text: &str) -> String {
    let fetched = fetcher.fetch(FetchRequest::get(url(text))).await;
    let error = fetched.expect_err(text);
    assert!(error.is_fetch(), "{error}");
    error.to_string()
}

/// A resolver that gives these addresses, one list for each question, and counts the questions.
#[derive(Default)]
struct Scripted {
    lists: Mutex<VecDeque<Vec<IpAddr>>>,
    questions: AtomicUsize,
}

impl ResolveHost for Scripted {
    fn resolve(&self, host: Name) -> BoxFuture<'static, Result<Vec<SocketAddr>, BoxError>> {
        self.questions.fetch_add(1, Ordering::Relaxed);
        let list = lock(&self.lists).pop_front().ok_or_else(|| format!("{host} is unknown").into());
        let with_port = |list: Vec<IpAddr>| list.into_iter().map(|ip| (ip, 0).into()).collect();
        Box::pin(async move { list.map(with_port) })
    }
}

fn scripted(lists: &[&[&str]]) -> Arc<Scripted> {
    let addresses = |list: &&[&str]| list.iter().map(|ip| ip.parse().unwrap()).collect();
    let lists = Mutex::new(lists.iter().map(addresses).collect());
    Arc::new(Scripted { lists, ..Scripted::default() })
}

impl GuardedFetcher {
    fn with_resolver(mut self, resolver: Arc<dyn ResolveHost>) -> Self {
        self.resolver = resolver;
        self
    }
}

/// A server on this machine that answers each connection once, by the path of its request.
async fn server() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let request = read_request(&mut stream).await;
                let answer = answer(&request, port);
                let _ = stream.write_all(answer.as_bytes()).await;
                let _ = stream.shutdown().await;
            });
        }
    });
    port
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    while !text.contains("\r\n\r\n") {
        let mut piece = [0; 4096];
        let length = stream.read(&mut piece).await.unwrap();
        text.push_str(std::str::from_utf8(&piece[..length]).unwrap());
    }
    text
}

fn answer(request: &str, port: u16) -> String {
    let path = request.split([' ', '?']).nth(1).unwrap();
    let redirect =
        |to: &str| format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
    match path {
        "/three" => redirect("/two"),
        "/two" => redirect("one"),
        "/one" => redirect(&format!("http://127.0.0.1:{port}/json")),
        "/four" => redirect("/three"),
        "/elsewhere" => redirect("http://169.254.169.254/latest/meta-data"),
        "/other-port" => redirect("http://127.0.0.1:1/json"),
        "/user" => redirect(&format!("http://user@127.0.0.1:{port}/json")),
        "/nowhere" => "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n".to_owned(),
        "/long" => {
            let body = "x".repeat(MOST_ANSWER + 1);
            format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        }
        "/endless" => "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".to_owned(),
        "/echo" => {
            format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{request}", request.len())
        }
        _ => "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
            .to_owned(),
    }
}

// spec: SBP-1, SBP-3
#[tokio::test]
async fn a_literal_address_that_is_not_public_is_refused() {
    let fetcher = fetcher(PUBLIC_MCP).with_resolver(scripted(&[]));
    for (host, purpose) in [
        ("10.0.0.1", "a private network"),
        ("127.0.0.1", "this machine"),
        ("0.0.0.0", "this machine"),
        ("169.254.169.254", "link-local, where cloud platforms hand out credentials"),
        ("100.100.100.200", "the network of a provider"),
        ("[::1]", "this machine"),
        ("[fd00:ec2::254]", "a private network"),
        ("[::ffff:10.0.0.1]", "a private network"),
        ("[64:ff9b::a00:1]", "a private network"),
    ] {
        let text = refusal(&fetcher, &format!("https://{host}/.well-known/x?canary")).await;
        assert!(text.contains(&format!("is not permitted: {purpose}")), "{text}");
        assert!(!text.contains("canary"), "{text}");
    }
    assert_eq!(
        refusal(&fetcher, "https://[::ffff:10.0.0.1]/token").await,
        "https://[::ffff:10.0.0.1]/token: its address ::ffff:10.0.0.1 (that is 10.0.0.1) is not \
         permitted: a private network; authorization servers are reached at public addresses only; \
         if you trust this one, add `.allow_network(\"10.0.0.1\")`"
    );
}

// spec: SBP-11
#[test]
fn hosts_that_parsers_read_differently_are_no_urls() {
    for host in [
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "0x7f.1",
        "127.0.0.1.",
        "localhost.",
        "user@10.0.0.1",
        "[::1%25lo]",
        "[fe80::1%251]",
        "①②⑦.0.0.1",
    ] {
        assert!(Url::parse(&format!("https://{host}/")).is_err(), "{host}");
    }
}

// spec: SBP-2
#[tokio::test]
async fn plain_http_is_for_this_machine() {
    let port = server().await;
    let own = fetcher(OWN_MCP);
    let fetched = own.fetch(FetchRequest::get(url(&format!("http://127.0.0.1:{port}/json")))).await;
    assert_eq!(fetched.unwrap().json().unwrap(), "{}");
    for text in ["http://8.8.8.8/", "http://as.example/", "http://[::ffff:127.0.0.1]/"] {
        let refused = refusal(&own, text).await;
        assert!(refused.ends_with("`http` is for this machine only; use `https`"), "{refused}");
    }
    // The name alone proves nothing.
    let elsewhere = own.with_resolver(scripted(&[&["10.0.0.1"], &["8.8.8.8"]]));
    for ip in ["10.0.0.1", "8.8.8.8"] {
        let refused = refusal(&elsewhere, "http://localhost:1/").await;
        let reason = "is not permitted: another machine, and `http` is for this machine only";
        assert_eq!(refused, format!("http://localhost:1/: its address {ip} {reason}"));
    }
}

// spec: SBP-1, SBP-3
#[tokio::test]
async fn this_machine_is_reached_only_if_the_mcp_server_is_on_it() {
    let port = server().await;
    let document = format!("http://localhost:{port}/json");
    for mcp in [OWN_MCP, "http://localhost/mcp", "http://[::1]/mcp"] {
        assert!(fetcher(mcp).fetch(FetchRequest::get(url(&document))).await.is_ok(), "{mcp}");
    }
    for mcp in [PUBLIC_MCP, "https://10.0.0.1/mcp", "https://localhost.example/mcp"] {
        let refused = refusal(&fetcher(mcp), &document).await;
        assert!(refused.contains("is not permitted: this machine"), "{refused}");
    }
}

// spec: SBP-1, SBP-3
#[tokio::test]
async fn a_name_of_an_address_that_is_not_public_is_refused_and_not_dialled() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let fetcher = fetcher(PUBLIC_MCP).with_resolver(scripted(&[
        &["127.0.0.1"],
        &["::1", "127.0.0.1", "::ffff:127.0.0.1"],
        &["169.254.169.254"],
    ]));
    for reason in ["this machine", "this machine", "link-local"] {
        let refused = refusal(&fetcher, &format!("https://as.example:{port}/token")).await;
        assert!(refused.contains(&format!("is not permitted: {reason}")), "{refused}");
        assert!(refused.contains(".allow_network(\""), "{refused}");
    }
    // The first connection that the listener gets is this one.
    let own = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
    assert_eq!(listener.accept().await.unwrap().1, own.local_addr().unwrap());
}

// spec: SBP-1
#[tokio::test]
async fn of_several_addresses_only_permitted_ones_are_dialled() {
    let port = server().await;
    let fetcher =
        fetcher(OWN_MCP).with_resolver(scripted(&[&["10.0.0.1", "127.0.0.1", "169.254.169.254"]]));
    let request = FetchRequest::get(url(&format!("http://localhost:{port}/json")));
    assert_eq!(fetcher.fetch(request).await.unwrap().json().unwrap(), "{}");
}

// spec: SBP-1
#[tokio::test]
async fn a_name_that_changes_its_address_gains_nothing() {
    let port = server().await;
    let names = scripted(&[&["127.0.0.1"], &["10.0.0.1"], &["127.0.0.1"]]);
    let fetcher = fetcher(OWN_MCP).with_resolver(names.clone());
    let text = format!("http://localhost:{port}/json");
    assert!(fetcher.fetch(FetchRequest::get(url(&text))).await.is_ok());
    assert!(refusal(&fetcher, &text).await.contains("10.0.0.1"));
    assert!(fetcher.fetch(FetchRequest::get(url(&text))).await.is_ok());
    // The address that was checked is the one that was dialled: there was no second question.
    assert_eq!(names.questions.load(Ordering::Relaxed), 3);
}

// spec: SBP-4
#[tokio::test]
async fn redirects_of_a_get_are_followed_within_the_origin_three_times() {
    let port = server().await;
    let own = fetcher(OWN_MCP);
    let at = |path: &str| format!("http://127.0.0.1:{port}{path}");
    let fetched = own.fetch(FetchRequest::get(url(&at("/three")))).await.unwrap();
    assert_eq!(fetched.json().unwrap(), "{}");
    for (path, reason) in [
        ("/four", "more than 3 redirects"),
        ("/elsewhere", "a redirect to http://169.254.169.254/latest/meta-data, which is not"),
        ("/other-port", "a redirect to http://127.0.0.1:1/json, which is not followed"),
        ("/user", "it holds a user or password"),
        ("/nowhere", "a redirect without a `Location`"),
    ] {
        let refused = refusal(&own, &at(path)).await;
        assert!(refused.contains(reason), "{refused}");
    }
}

// spec: SBP-4
#[tokio::test]
async fn a_redirect_of_a_post_is_not_followed() {
    let port = server().await;
    let mut request = FetchRequest::post(
        url(&format!("http://127.0.0.1:{port}/one")),
        &Form::new().with("code", "c"),
    );
    request.limits.redirects = 3;
    let fetched = fetcher(OWN_MCP).fetch(request).await.unwrap();
    assert_eq!(fetched.status, http::StatusCode::FOUND);
}

#[tokio::test]
async fn a_request_carries_its_form_and_no_cookies() {
    let port = server().await;
    let form = Form::new().with("code", "c");
    let request = FetchRequest::post(url(&format!("http://127.0.0.1:{port}/echo?a=b")), &form);
    let fetched = fetcher(OWN_MCP).fetch(request).await.unwrap();
    let text = String::from_utf8(fetched.body.to_vec()).unwrap().to_lowercase();
    assert!(text.starts_with("post /echo?a=b http/1.1\r\n"), "{text}");
    assert!(text.contains("content-type: application/x-www-form-urlencoded\r\n"), "{text}");
    assert!(text.contains("content-length: 6\r\n") && !text.contains("cookie"), "{text}");
}

#[tokio::test]
async fn an_answer_has_a_limit_in_bytes_and_must_be_whole() {
    let port = server().await;
    for (path, reason) in
        [("long", "the answer has more than 1048576 bytes"), ("endless", "the answer broke off: ")]
    {
        let text = format!("http://127.0.0.1:{port}/{path}");
        let refused = refusal(&fetcher(OWN_MCP), &text).await;
        assert!(refused.starts_with(&format!("{text}: {reason}")), "{refused}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_has_a_limit_in_time() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let text = format!("http://127.0.0.1:{port}/silent");
    let refused = refusal(&fetcher(OWN_MCP), &format!("{text}?canary")).await;
    assert_eq!(refused, format!("{text}?…: no answer within 10s"));
}

// spec: SBP-3
#[tokio::test]
async fn the_host_of_a_configured_issuer_may_be_private_and_others_not() {
    let port = server().await;
    let issuer = url(&format!("http://localhost:{port}/realm"));
    let fetcher = GuardedFetcher::for_issuers([&issuer]);
    assert!(fetcher.fetch(FetchRequest::get(issuer)).await.is_ok());
    let refused = refusal(&fetcher, &format!("http://127.0.0.1:{port}/realm")).await;
    assert!(refused.contains("is not permitted: this machine"), "{refused}");
    let corporate = GuardedFetcher::for_issuers([&url("https://login.corp.example/")]);
    let fetcher = corporate.with_resolver(scripted(&[&["169.254.169.254"], &["10.0.0.1"]]));
    let refused = refusal(&fetcher, "https://login.corp.example/").await;
    assert!(refused.contains("is not permitted: link-local"), "{refused}");
    let refused = refusal(&fetcher, "https://keys.corp.example/").await;
    assert!(refused.contains("is not permitted: a private network"), "{refused}");
}

#[tokio::test]
async fn an_allowed_network_is_reached() {
    let port = server().await;
    let allowed = fetcher(PUBLIC_MCP).allow_network("127.0.0.0/24").unwrap();
    let text = format!("http://127.0.0.1:{port}/json");
    assert!(allowed.fetch(FetchRequest::get(url(&text))).await.is_ok());
    assert!(
        refusal(&allowed, "https://127.0.1.1/").await.contains(".allow_network(\"127.0.1.1\")")
    );
}
