//! What opens, what does not, and that the cipher is the one it claims to be.

use std::time::UNIX_EPOCH;

use base64::engine::general_purpose::STANDARD;
use bowline_proto::request::Owner;
use bowline_types::method::Method;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};

use super::*;

const LIFETIME: Duration = Duration::from_secs(60);

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn sealer(keys: &[u8]) -> Sealer {
    Sealer::new(keys.iter().map(|byte| [*byte; 32]).collect::<Vec<_>>(), LIFETIME)
}

fn binding() -> Binding {
    bind(&Owner::anonymous(), "book", r#"{"to":"Oslo","seats":2}"#)
}

fn bind(owner: &Owner, name: &str, arguments: &str) -> Binding {
    Binding::new(owner, Method::ToolsCall, name, arguments.as_bytes()).unwrap()
}

#[test]
fn what_was_sealed_opens_for_the_same_call() {
    let sealed = sealer(&[1]).seal(b"answers", &binding(), now()).unwrap();
    assert_eq!(sealer(&[1]).open(&sealed, &binding(), now()).unwrap().plain, b"answers");
    let reordered = bind(&Owner::anonymous(), "book", r#"{"seats": 2.0, "to": "Oslo"}"#);
    assert_eq!(sealer(&[1]).open(&sealed, &reordered, now()).unwrap().plain, b"answers");
}

#[test]
fn a_sealed_text_is_unreadable_and_no_two_are_alike() {
    let seal = || sealer(&[1]).seal(b"answers", &binding(), now()).unwrap();
    let bytes = URL_SAFE_NO_PAD.decode(seal()).unwrap();
    assert!(!bytes.windows(7).any(|window| window == b"answers"));
    assert_ne!(seal(), seal());
}

// spec: MRTR-9, MRTR-10, MRTR-11, SBP-14
#[test]
fn changing_any_bit_is_noticed() {
    let sealed = sealer(&[1]).seal(b"some answers", &binding(), now()).unwrap();
    let bytes = URL_SAFE_NO_PAD.decode(&sealed).unwrap();
    for position in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[position] ^= 1 << bit;
            let text = URL_SAFE_NO_PAD.encode(changed);
            let opened = sealer(&[1]).open(&text, &binding(), now());
            assert_eq!(opened, Err(BadState), "byte {position}, bit {bit}");
        }
    }
}

// spec: MRTR-9, MRTR-11
#[test]
fn changing_or_dropping_any_character_is_noticed() {
    let sealed = sealer(&[1]).seal(b"some answer", &binding(), now()).unwrap();
    for position in 0..sealed.len() {
        for other in ['A', 'B', '_', '-', '=', ' ', 'é'] {
            let mut changed = sealed.clone();
            changed.replace_range(position..=position, &other.to_string());
            if changed != sealed {
                assert!(sealer(&[1]).open(&changed, &binding(), now()).is_err(), "{position}");
            }
        }
        let cut = &sealed[..position];
        assert!(sealer(&[1]).open(cut, &binding(), now()).is_err(), "{position}");
    }
    assert!(sealer(&[1]).open(&format!("{sealed}A"), &binding(), now()).is_err());
}

// spec: MRTR-13, MRTR-15
#[test]
fn it_does_not_open_for_another_call_or_caller() {
    let sealed = sealer(&[1]).seal(b"answers", &binding(), now()).unwrap();
    let arguments = r#"{"to":"Oslo","seats":2}"#;
    let others = [
        bind(&Owner::known("issuer", "subject"), "book", arguments),
        bind(&Owner::anonymous(), "cancel", arguments),
        bind(&Owner::anonymous(), "book", r#"{"to":"Oslo","seats":3}"#),
    ];
    for other in others {
        assert_eq!(sealer(&[1]).open(&sealed, &other, now()), Err(BadState));
    }
}

// spec: MRTR-14, SBP-14
#[test]
fn it_expires() {
    let sealed = sealer(&[1]).seal(b"answers", &binding(), now()).unwrap();
    let open = |after| sealer(&[1]).open(&sealed, &binding(), now() + after);
    assert!(open(LIFETIME - Duration::from_millis(1)).is_ok());
    assert_eq!(open(LIFETIME), Err(BadState));
}

#[test]
fn keys_can_be_rotated() {
    let sealed = sealer(&[1]).seal(b"answers", &binding(), now()).unwrap();
    assert!(sealer(&[2, 1]).open(&sealed, &binding(), now()).is_ok());
    assert_eq!(sealer(&[2]).open(&sealed, &binding(), now()), Err(BadState));
    let sealed = sealer(&[2, 1]).seal(b"answers", &binding(), now()).unwrap();
    assert!(sealer(&[2]).open(&sealed, &binding(), now()).is_ok());
}

#[test]
fn too_much_is_neither_sealed_nor_opened() {
    let much = vec![0; MOST + 1];
    assert!(matches!(sealer(&[1]).seal(&much, &binding(), now()), Err(SealError::TooLarge(_))));
    let most = sealer(&[1]).seal(&much[1..], &binding(), now()).unwrap();
    assert!(sealer(&[1]).open(&most, &binding(), now()).is_ok());
    assert_eq!(sealer(&[1]).open(&"A".repeat(1 << 20), &binding(), now()), Err(BadState));
}

#[test]
fn a_key_is_not_printed() {
    assert_eq!(format!("{:?}", StateKey::from([7; 32])), "StateKey");
}

#[test]
fn an_independent_implementation_opens_it() {
    let sealed = sealer(&[9]).seal(b"answers", &binding(), now()).unwrap();
    let bytes = URL_SAFE_NO_PAD.decode(sealed).unwrap();
    let (head, ciphertext) = bytes.split_at(HEAD);
    let id = <[u8; 4]>::try_from(&head[1..5]).unwrap();
    let nonce = <[u8; 12]>::try_from(&head[5..]).unwrap();
    let bound = binding().with_head(VERSION, id);
    let cipher = chacha20poly1305::ChaCha20Poly1305::new(&[9; 32].into());
    let payload = Payload { msg: ciphertext, aad: &bound };
    let plain = cipher.decrypt(&nonce.into(), payload).unwrap();
    assert_eq!(&plain[8..], b"answers");
}

/// The text of a key file.
fn key(byte: u8) -> String {
    STANDARD.encode([byte; 32])
}

/// Writes a file that others have no access to.
fn write_private(path: &std::path::Path, text: &str) {
    std::fs::write(path, text).unwrap();
    #[cfg(unix)]
    set_mode(path, 0o600);
}

#[cfg(unix)]
fn set_mode(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(unix)]
#[test]
fn a_key_file_that_others_may_read_or_write_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    write_private(&path, &key(1));
    let keys = StateKeys::file(&path).unwrap();
    for mode in [0o666, 0o644, 0o660, 0o606, 0o602] {
        set_mode(&path, mode);
        let error = StateKeys::file(&path).unwrap_err().to_string();
        assert!(error.starts_with("other users have access to the state keys in "), "{error}");
        assert!(keys.reload().is_err(), "{mode:o}");
    }
    // Containers give secrets to the group of a process.
    for mode in [0o600, 0o400, 0o440, 0o640] {
        set_mode(&path, mode);
        keys.reload().unwrap();
    }
}

#[test]
fn keys_are_rotated_by_reloading_their_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    let write = |text: String| write_private(&path, &text);
    write(format!("# since June\n{}\n\n", key(1)));
    let keys = StateKeys::file(&path).unwrap();
    let sealer = Sealer::new(keys.clone(), LIFETIME);
    let old = sealer.seal(b"old", &binding(), now()).unwrap();
    write(format!("{}\r\n  {}", key(2), key(1)));
    keys.reload().unwrap();
    let new = sealer.seal(b"new", &binding(), now()).unwrap();
    assert_eq!(sealer.open(&old, &binding(), now()).unwrap().plain, b"old");
    write(key(2));
    keys.reload().unwrap();
    assert_eq!(sealer.open(&old, &binding(), now()), Err(BadState));
    assert_eq!(sealer.open(&new, &binding(), now()).unwrap().plain, b"new");
}

#[test]
fn a_key_file_with_a_mistake_is_refused_without_showing_it_and_the_old_keys_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys");
    write_private(&path, &key(1));
    let keys = StateKeys::file(&path).unwrap();
    let sealer = Sealer::new(keys.clone(), LIFETIME);
    let sealed = sealer.seal(b"answers", &binding(), now()).unwrap();
    let short = STANDARD.encode([7; 31]);
    for (text, problem) in [
        (format!("{}\n{short}", key(1)), ", line 2: no key of 32 bytes in base64; make one with"),
        ("# none\n".to_owned(), "there is no state key in "),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = keys.reload().unwrap_err().to_string();
        assert!(error.contains(problem) && !error.contains(&short), "{error}");
        assert!(error.contains(path.to_str().unwrap()), "{error}");
        assert!(sealer.open(&sealed, &binding(), now()).is_ok());
    }
    std::fs::remove_file(&path).unwrap();
    let error = StateKeys::file(&path).unwrap_err();
    assert!(error.to_string().starts_with("cannot read the state keys in "));
    assert!(std::error::Error::source(&error).is_some());
    assert!(format!("{keys:?}").starts_with("StateKeys { file: Some("));
}
