//! Unix domain sockets.

#![cfg(unix)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use bowline_proto::limits::Limits;
use bowline_transport::socket::{UnixTransport, listen};
use bowline_transport::transport::{Reader, Transport, Writer};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use self::support::{Directory, echo, next, queue};

#[tokio::test]
async fn a_client_talks_to_a_server_through_a_socket() {
    let directory = Directory::new();
    let listener = listen(directory.0.join("socket")).await.unwrap();
    let client = UnixTransport::connect(listener.path()).await.unwrap();
    tokio::spawn(echo(listener.accept().await.unwrap()));
    let (mut reader, mut writer) = client.split(&Limits::default());
    writer.write(&mut queue(["{\"a\":1}"])).await.unwrap();
    assert_eq!(next(&mut reader).await, "{\"a\":1}");
    writer.close().await;
    assert_eq!(reader.read().await.unwrap(), None);
}

// spec: TR-6
#[tokio::test]
async fn a_socket_carries_lines_as_standard_input_and_output_do() {
    let directory = Directory::new();
    let listener = listen(directory.0.join("socket")).await.unwrap();
    let mut client = UnixStream::connect(listener.path()).await.unwrap();
    let (mut reader, mut writer) = listener.accept().await.unwrap().split(&Limits::default());
    client.write_all(b"{\"a\":1}\n{\"b\":2}\r\n").await.unwrap();
    assert_eq!(next(&mut reader).await, "{\"a\":1}");
    assert_eq!(next(&mut reader).await, "{\"b\":2}");
    writer.write(&mut queue(["{\"c\":3}", "{\"d\":4}"])).await.unwrap();
    writer.close().await;
    drop(reader);
    let mut written = String::new();
    client.read_to_string(&mut written).await.unwrap();
    assert_eq!(written, "{\"c\":3}\n{\"d\":4}\n");
}

// spec: AUTH-4
#[tokio::test]
async fn only_the_owner_may_connect() {
    let directory = Directory::new();
    let listener = listen(directory.0.join("socket")).await.unwrap();
    let mode = fs::metadata(listener.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn a_stale_socket_is_replaced() {
    let directory = Directory::new();
    let path = directory.0.join("socket");
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists(), "the standard library leaves it behind");
    let listener = listen(&path).await.unwrap();
    UnixTransport::connect(&path).await.unwrap();
    drop(listener);
}

#[tokio::test]
async fn a_live_socket_is_not_replaced() {
    let directory = Directory::new();
    let path = directory.0.join("socket");
    let first = listen(&path).await.unwrap();
    let error = listen(&path).await.unwrap_err();
    assert!(error.is_start());
    let expected = format!("cannot listen at `{}`: another server does", path.display());
    assert_eq!(error.to_string(), expected);
    UnixTransport::connect(first.path()).await.unwrap();
}

#[tokio::test]
async fn a_file_that_is_no_socket_is_not_replaced() {
    let directory = Directory::new();
    let path = directory.0.join("notes.txt");
    fs::write(&path, "precious").unwrap();
    assert!(listen(&path).await.unwrap_err().to_string().ends_with("it exists and is no socket"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}

#[tokio::test]
async fn a_listener_removes_its_own_socket_and_no_other() {
    let directory = Directory::new();
    let path = directory.0.join("socket");
    drop(listen(&path).await.unwrap());
    assert!(!path.exists());
    let first = listen(&path).await.unwrap();
    fs::remove_file(&path).unwrap();
    let second = listen(&path).await.unwrap();
    drop(first);
    assert!(path.exists());
    drop(second);
}

#[tokio::test]
async fn the_error_for_a_missing_socket_names_the_path() {
    let directory = Directory::new();
    let error = UnixTransport::connect(directory.0.join("missing")).await.unwrap_err();
    assert!(error.is_start());
    assert!(error.to_string().contains("missing"), "{error}");
    assert!(std::error::Error::source(&error).is_some());
}
