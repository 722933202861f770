//! Browsers and forgers at the redirect URI.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Prepares a visit and shows it a page that no browser opens.
async fn visit(host: &str) -> (Box<dyn PageVisit>, u16) {
    let (plan, page) = (bowline_auth::client::plan::Browser::new("app"), page());
    let plan = plan.open_with(|_| async { Ok::<_, Error>(()) }).into();
    let opener = bowline_auth::client::drive::Authorizer::page_opener(&plan).unwrap();
    let mut visit = LoopbackVisitor::new(opener).prepare(None).await.unwrap();
    let port = visit.redirect().port();
    let redirect = Url::parse(&format!("http://{host}:{port}/callback")).unwrap();
    visit.show(&page, &redirect).await.unwrap();
    (visit, port)
}

fn page() -> BrowserUrl {
    BrowserUrl::new(Url::parse("https://as.example/authorize").unwrap()).unwrap()
}

/// Sends a request and gives the whole response.
async fn request(port: u16, text: &str) -> String {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    response
}

// spec: AUTH-10
#[tokio::test]
async fn the_answer_comes_to_a_port_of_this_machine() {
    for host in ["127.0.0.1", "localhost"] {
        let (mut visit, port) = visit(host).await;
        assert_eq!(visit.redirect().as_str(), format!("http://127.0.0.1:{port}/callback"));
        let text = format!("GET /callback?code=c&state=s HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n");
        let response = request(port, &text).await;
        assert!(response.starts_with("HTTP/1.1 200 OK\r\n") && response.ends_with(PAGE));
        assert!(response.contains("Referrer-Policy: no-referrer"));
        assert_eq!(visit.answer().await.unwrap().unwrap().expose(), "code=c&state=s");
    }
}

#[tokio::test]
async fn only_a_get_of_the_exact_path_and_host_is_an_answer() {
    let (mut visit, port) = visit("127.0.0.1").await;
    let own = format!("Host: 127.0.0.1:{port}\r\n");
    for (line, host, status) in [
        ("GET /callback?forged HTTP/1.1", format!("Host: localhost:{port}\r\n"), 403),
        ("GET /callback?forged HTTP/1.1", "Host: evil.example\r\n".into(), 403),
        ("GET /callback?forged HTTP/1.1", "Host: 127.0.0.1\r\n".into(), 403),
        ("GET /callback?forged HTTP/1.1", String::new(), 403),
        ("GET /callback?forged HTTP/1.1", format!("{own}{own}"), 403),
        ("GET /callback/?forged HTTP/1.1", own.clone(), 404),
        ("GET /favicon.ico HTTP/1.1", own.clone(), 404),
        ("GET /CALLBACK?forged HTTP/1.1", own.clone(), 404),
        ("GET http://127.0.0.1/callback?forged HTTP/1.1", own.clone(), 404),
        ("POST /callback?forged HTTP/1.1", own.clone(), 405),
        ("OPTIONS /callback?forged HTTP/1.1", own.clone(), 405),
        ("GET /callback?forged", own.clone(), 400),
        ("GET  /callback?forged HTTP/1.1", own.clone(), 400),
        ("PRI * HTTP/2.0", own.clone(), 400),
    ] {
        let response = request(port, &format!("{line}\r\n{host}\r\n")).await;
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{line} {host} {response}");
        assert!(!response.contains("forged"));
    }
    let text = format!("GET /callback?real HTTP/1.1\r\n{own}\r\n");
    assert!(request(port, &text).await.starts_with("HTTP/1.1 200 "));
    assert_eq!(visit.answer().await.unwrap().unwrap().expose(), "real");
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let (_visit, port) = visit("127.0.0.1").await;
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
    // The listener may close before everything is written.
    let _ = stream.write_all(&vec![b'x'; MOST_HEAD + 4097]).await;
    let mut response = Vec::new();
    let _ = stream.read_to_end(&mut response).await;
    let response = String::from_utf8(response).unwrap();
    assert!(response.is_empty() || response.starts_with("HTTP/1.1 431 "), "{response}");
}

#[tokio::test]
async fn a_port_that_is_taken_is_replaced_by_a_free_one() {
    let (visit, port) = visit("127.0.0.1").await;
    let free = listen(Some(port)).await.unwrap();
    assert_ne!(free.local_addr().unwrap().port(), port);
    assert!(free.local_addr().unwrap().ip().is_loopback());
    drop(visit);
}

#[test]
fn the_port_80_may_be_absent_from_the_host() {
    let query = |redirect: &str, host: &str| {
        let (answers, _) = mpsc::channel(MOST_ANSWERS);
        let receiver = Receiver { hosts: hosts(&Url::parse(redirect).unwrap()), answers };
        let head = Secret::new(format!("GET /callback?x HTTP/1.1\r\nHost: {host}"));
        receiver.query(&head).map(str::to_owned)
    };
    let forbidden = Err("403 Forbidden");
    for redirect in ["http://127.0.0.1/callback", "http://127.0.0.1:80/callback"] {
        assert_eq!(query(redirect, "127.0.0.1"), Ok("x".to_owned()));
        assert_eq!(query(redirect, "127.0.0.1:80"), Ok("x".to_owned()));
        assert_eq!(query(redirect, "127.0.0.1:8080"), forbidden);
        assert_eq!(query(redirect, "localhost"), forbidden);
    }
    assert_eq!(query("http://127.0.0.1:8080/callback", "127.0.0.1"), forbidden);
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_cannot_accept_tries_again_after_a_pause() {
    let attempts = AtomicUsize::new(0);
    let accept = async || {
        // A listener without a pause fails the test; it must not run without end.
        if attempts.fetch_add(1, Ordering::Relaxed) > 1000 {
            std::future::pending::<()>().await;
        }
        Err(io::Error::other("too many open files"))
    };
    let (answers, _) = mpsc::channel(MOST_ANSWERS);
    let receiver = Arc::new(Receiver { hosts: Vec::new(), answers });
    let seconds = Duration::from_secs(10);
    assert!(timeout(seconds, serve(accept, receiver)).await.is_err());
    let most = seconds.as_millis() / ACCEPT_PAUSE.as_millis() + 1;
    let attempts = attempts.into_inner() as u128;
    assert!((most - 1..=most).contains(&attempts), "{attempts}");
}
