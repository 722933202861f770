//! Logins of a client: what the plans of `bowline-auth` do to the requests of a connection.
//!
//! One small server is the MCP server and its own authorization server. Logins against a complete
//! authorization server are tests of `bowline-testing`.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bowline_auth::client::plan::{Browser, Enterprise, IdentityProvider, Machine};
use bowline_client::types::revision::Revision;
use bowline_client::{CacheOptions, Client, ClientBuilder, HttpServer};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// What a request had: method and path, `Authorization`, body.
type Seen = (String, String, String);

/// A server that lets requests with the token `t` in.
#[derive(Clone)]
struct Server {
    origin: String,
    /// Where it says that its authorization server is.
    issuer: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    async fn start() -> Self {
        Self::start_with(None).await
    }

    async fn start_with(issuer: Option<&str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let issuer = issuer.map_or(origin.clone(), str::to_owned);
        let server = Self { origin, issuer, seen: Arc::default() };
        let serving = server.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let server = serving.clone();
                let service = service_fn(move |request| server.clone().serve(request));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), service));
            }
        });
        server
    }

    fn client(&self) -> ClientBuilder<HttpServer> {
        Client::http(format!("{}/mcp", self.origin))
    }

    /// What authorizes a program here.
    fn machine(&self) -> Machine {
        Machine::secret(&*self.issuer, "id", "s")
    }

    async fn serve(
        self,
        request: Request<hyper::body::Incoming>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        let (head, body) = request.into_parts();
        let body = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        let credential = head.headers.get("authorization").map(|it| it.to_str().unwrap());
        let credential = credential.unwrap_or_default().to_owned();
        let line = format!("{} {}", head.method, head.uri.path());
        let answer = self.answer(&line, &credential, &body);
        self.seen.lock().unwrap().push((line, credential, body));
        Ok(answer)
    }

    fn answer(&self, line: &str, credential: &str, body: &str) -> Response<Full<Bytes>> {
        let (origin, issuer) = (&self.origin, &self.issuer);
        match line {
            "GET /.well-known/oauth-protected-resource/mcp" => json_answer(&json!({
                "resource": format!("{origin}/mcp"), "authorization_servers": [issuer] })),
            "GET /.well-known/oauth-authorization-server" => json_answer(&json!({
                "issuer": issuer, "authorization_endpoint": format!("{origin}/authorize"),
                "token_endpoint": format!("{origin}/token"),
                "revocation_endpoint": format!("{origin}/revoke"),
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"] })),
            "POST /token" => json_answer(&json!({ "access_token": "t", "token_type": "Bearer" })),
            "POST /mcp" if credential == "Bearer t" => mcp_answer(body),
            "POST /mcp" | "POST /bare" => {
                let response = Response::builder().status(401);
                response.header("www-authenticate", "Bearer").body(Full::default()).unwrap()
            }
            _ => Response::builder().status(404).body(Full::default()).unwrap(),
        }
    }

    /// The requests of a method and path.
    fn seen(&self, line: &str) -> Vec<Seen> {
        self.seen.lock().unwrap().iter().filter(|it| it.0 == line).cloned().collect()
    }
}

fn json_answer(body: &Value) -> Response<Full<Bytes>> {
    let response = Response::builder().header("content-type", "application/json");
    response.body(Full::from(body.to_string())).unwrap()
}

/// The answer of a modern server with any tool.
fn mcp_answer(body: &str) -> Response<Full<Bytes>> {
    let message: Value = serde_json::from_str(body).unwrap();
    let result = match message["method"].as_str() {
        Some("server/discover") => json!({ "supportedVersions": ["2026-07-28"],
            "capabilities": { "tools": {} }, "resultType": "complete" }),
        Some("tools/list") => json!({ "tools": [], "ttlMs": 60_000, "cacheScope": "private",
            "resultType": "complete" }),
        _ => json!({ "content": [{ "type": "text", "text": "hi" }], "resultType": "complete" }),
    };
    json_answer(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
}

#[tokio::test]
async fn a_client_logs_in_when_the_server_demands_it_and_once_for_all_calls() {
    let server = Server::start().await;
    let client = server.client().auth(server.machine()).connect().await.unwrap();
    assert_eq!(client.call("greet", ()).await.unwrap().text(), "hi");
    let credentials: Vec<_> = server.seen("POST /mcp").into_iter().map(|it| it.1).collect();
    assert_eq!(credentials, ["", "Bearer t", "Bearer t"]);
    assert_eq!(server.seen("POST /token").len(), 1);
}

#[tokio::test]
async fn connections_of_one_builder_share_their_login() {
    let server = Server::start().await;
    let builder = server.client().auth(server.machine());
    for _ in 0..2 {
        builder.clone().connect().await.unwrap().close().await;
    }
    assert_eq!(server.seen("POST /token").len(), 1);
}

#[tokio::test]
async fn logging_out_revokes_the_token_and_the_next_call_logs_in_again() {
    let server = Server::start().await;
    let client = server.client().auth(server.machine()).connect().await.unwrap();
    client.logout().await.unwrap();
    let revoked = server.seen("POST /revoke");
    assert!(matches!(&revoked[..], [(_, _, body)] if body.contains("token=t&")), "{revoked:?}");
    client.logout().await.unwrap();
    assert_eq!(server.seen("POST /revoke").len(), 1);
    assert_eq!(client.call("greet", ()).await.unwrap().text(), "hi");
    assert_eq!(server.seen("POST /token").len(), 2);
    let without =
        Client::http(format!("{}/mcp", server.origin)).header("Authorization", "Bearer t");
    without.connect().await.unwrap().logout().await.unwrap();
}

#[tokio::test]
async fn logging_out_forgets_what_the_user_was_shown() {
    let server = Server::start().await;
    let client = server.client().auth(server.machine()).cache(CacheOptions::default());
    let client = client.connect().await.unwrap();
    let lists = || server.seen("POST /mcp").iter().filter(|it| it.2.contains("tools/list")).count();
    for _ in 0..2 {
        client.tools().all().await.unwrap();
    }
    assert_eq!(lists(), 1, "the list is cached");
    client.logout().await.unwrap();
    client.tools().all().await.unwrap();
    // Without a token, then with one.
    assert_eq!(lists(), 3);
}

// spec: OCC-8
#[tokio::test]
async fn the_extension_of_a_login_is_declared() {
    let provider = IdentityProvider::new("https://idp.example", "id");
    let server = Server::start().await;
    let client = server.client().auth(server.machine());
    client.connect().await.unwrap().call("greet", ()).await.unwrap();
    let enterprise = server.client().auth(Enterprise::new(provider, "x"));
    enterprise.connect().await.unwrap_err();
    let declared = |at: usize| {
        let message: Value = serde_json::from_str(&server.seen("POST /mcp")[at].2).unwrap();
        let meta = &message["params"]["_meta"];
        meta["io.modelcontextprotocol/clientCapabilities"]["extensions"].clone()
    };
    for at in 0..3 {
        let name = "io.modelcontextprotocol/oauth-client-credentials";
        assert_eq!(declared(at), json!({ name: {} }));
    }
    let name = "io.modelcontextprotocol/enterprise-managed-authorization";
    assert_eq!(declared(3), json!({ name: {} }));
}

#[tokio::test]
async fn a_login_and_a_header_with_a_credential_exclude_each_other() {
    let client = Client::http("http://127.0.0.1:1/mcp").header("authorization", "Bearer 1");
    let error = client.auth(Browser::new("app")).connect().await.unwrap_err();
    assert!(error.is_connect());
    assert_eq!(
        error.to_string(),
        "connecting: `.auth(..)` and a header `Authorization` are both set; remove one of them"
    );
}

#[tokio::test]
async fn an_authorization_server_in_a_private_network_must_be_allowed() {
    let server = Server::start_with(Some("https://10.0.0.1")).await;
    let login = || server.client().auth(Machine::secret("https://10.0.0.1", "id", "s"));
    let error = login().connect().await.unwrap_err();
    assert!(error.is_unauthorized(), "{error}");
    let text = error.to_string();
    assert!(text.contains("its address 10.0.0.1 is not permitted: a private network"), "{text}");
    assert!(text.contains("add `.allow_network(\"10.0.0.1\")`"), "{text}");
    let error = login().allow_network("10.0.0.0/33").connect().await.unwrap_err();
    assert!(error.to_string().contains("\"10.0.0.0/33\" is no network"), "{error}");
}

#[tokio::test]
async fn a_failed_login_is_a_sentence_and_no_reason_to_try_an_older_revision() {
    let server = Server::start().await;
    let machine = Machine::secret("https://another.example", "id", "s");
    let error = server.client().auth(machine).connect().await.unwrap_err();
    assert!(error.is_unauthorized(), "{error}");
    assert_eq!(
        error.to_string(),
        format!(
            "connecting: POST {0}/mcp: 401 Unauthorized: the login is refused: the client `id` is \
             known to https://another.example, but the MCP server names [\"{0}\"]; if you trust \
             that one, register the client there and set its issuer",
            server.origin
        )
    );
    assert_eq!((server.seen("POST /mcp").len(), server.seen("POST /token").len()), (1, 0));
}

#[tokio::test]
async fn a_server_without_a_document_is_its_own_authority_only_if_the_client_offers_2025_03_26() {
    let server = Server::start().await;
    let bare = || Client::http(format!("{}/bare", server.origin)).auth(server.machine());
    bare().revisions([Revision::V2026_07_28]).connect().await.unwrap_err();
    assert_eq!(server.seen("GET /.well-known/oauth-authorization-server").len(), 0);
    bare().connect().await.unwrap_err();
    assert_eq!(server.seen("GET /.well-known/oauth-authorization-server").len(), 1);
}
