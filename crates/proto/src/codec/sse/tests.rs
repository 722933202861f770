//! Events whole and cut, short and endless, written and read back.

use super::super::skipped::END;
use super::*;

fn read(reader: &mut SseReader, bytes: &[u8], size: usize) -> Vec<SseEvent> {
    let mut events = Vec::new();
    for piece in bytes.chunks(size) {
        reader.feed(piece);
        events.extend(std::iter::from_fn(|| reader.next()));
    }
    events
}

fn message(text: &str) -> SseEvent {
    SseEvent { name: None, data: Received::Message(Bytes::copy_from_slice(text.as_bytes())) }
}

// spec: HTTP-35
#[test]
fn events_are_the_same_however_they_are_cut_and_whatever_ends_their_lines() {
    let text = "\u{feff}data: 0\n\n: hello\n\ndata: {\"a\":1}\nid: 7\n\nevent: endpoint\ndata:/x\n\n\
                unknown: y\nretry: 250\n\ndata\n\ndata: 1\ndata: 2\n\n:\n\ndata: lost";
    let endpoint = SseEvent {
        name: Some("endpoint".to_owned()),
        data: Received::Message(Bytes::from_static(b"/x")),
    };
    for newline in ["\n", "\r", "\r\n"] {
        let bytes = text.replace('\n', newline);
        for size in 1..=bytes.len() {
            let mut reader = SseReader::new(100);
            let events = read(&mut reader, bytes.as_bytes(), size);
            assert_eq!(
                events,
                [message("0"), message("{\"a\":1}"), endpoint.clone(), message("1\n2")],
                "{newline:?} {size}"
            );
            assert_eq!(reader.last_id(), Some("7"));
            assert_eq!(reader.retry(), Some(Duration::from_millis(250)));
        }
    }
}

// spec: HTTP-16
#[test]
fn an_event_without_data_only_sets_the_id() {
    let mut reader = SseReader::new(100);
    assert_eq!(read(&mut reader, b"id: 1-0\nretry: 500\ndata:\n\n", 100), []);
    assert_eq!(reader.last_id(), Some("1-0"));
    assert_eq!(reader.retry(), Some(Duration::from_millis(500)));
}

// spec: RESUME-4
#[test]
fn an_id_counts_when_its_event_is_whole() {
    let whole = "id: a/2\ndata: 2\n\nid: a/3\ndata: {\"js";
    for cut in whole.find("id: a/3").unwrap()..=whole.len() {
        let mut reader = SseReader::new(100);
        assert_eq!(read(&mut reader, &whole.as_bytes()[..cut], 5), [message("2")]);
        assert_eq!(reader.last_id(), Some("a/2"), "cut at {cut}");
    }
    let mut reader = SseReader::new(100);
    read(&mut reader, b"id: 1\n\ndata: x\nid: 2\n", 100);
    assert_eq!(reader.last_id(), Some("1"), "an event without data counts, one without end not");
    read(&mut reader, b"\nid\n\n", 100);
    assert_eq!(reader.last_id(), Some(""), "an empty id takes the place back");
}

#[test]
fn invalid_ids_and_times_are_ignored() {
    let mut reader = SseReader::new(100);
    read(
        &mut reader,
        b"id: 1\nretry: 5\n\nid: a\0b\nretry: -1\n\nretry: x\n\nretry: +7\n\nretry: 99999999999999999999\n\n",
        9,
    );
    assert_eq!(reader.last_id(), Some("1"));
    assert_eq!(reader.retry(), Some(Duration::from_millis(5)));
}

#[test]
fn only_the_three_line_ends_end_lines() {
    let mut reader = SseReader::new(100);
    let events = read(&mut reader, "data: \"a\u{2028}b\u{2029}c\u{85}d\u{b}\"\n\n".as_bytes(), 3);
    assert_eq!(events, [message("\"a\u{2028}b\u{2029}c\u{85}d\u{b}\"")]);
}

#[test]
fn line_ends_may_be_mixed_and_a_mark_counts_at_the_very_start_only() {
    let text = "\u{feff}\ndata: 1\r\n\ndata: 2\r\rdata: 3\n\r\n\u{feff}data: x\n\ndata: 4\n\n";
    for size in 1..=text.len() {
        let events = read(&mut SseReader::new(100), text.as_bytes(), size);
        let expected = [message("1"), message("2"), message("3"), message("4")];
        assert_eq!(events, expected, "pieces of {size}: a field is named \"\u{feff}data\"");
    }
}

#[test]
fn lines_of_data_are_joined_by_line_feeds() {
    let mut reader = SseReader::new(100);
    let events = read(&mut reader, b"data: 1\ndata: 234\ndata: 5\n\ndata:\ndata: 6\n\n", 7);
    assert_eq!(events, [message("1\n234\n5"), message("\n6")]);
}

#[test]
fn data_may_be_as_long_as_the_limit() {
    for (text, is_whole) in [
        ("data: 12345", true),
        ("data: 123456", false),
        ("data: 12\ndata: 45", true),
        ("data: 12\ndata: 456", false),
        ("data: 1\ndata: 3\ndata: 5", true),
        ("data: 1\ndata: 3\ndata: 56", false),
    ] {
        for size in 1..=text.len() {
            let events = read(&mut SseReader::new(5), format!("{text}\n\n").as_bytes(), size);
            let [SseEvent { data, .. }] = &events[..] else { panic!("{text:?}: {events:?}") };
            assert_eq!(matches!(data, Received::Message(_)), is_whole, "{text:?}");
        }
    }
}

#[test]
fn a_line_may_be_as_long_as_its_bound_however_it_is_cut() {
    let data = "x".repeat(FIELD + 10);
    for (line, is_kept) in [
        (format!("data: {data}"), true),
        (format!("data: {data}y"), false),
        (format!("id: {}", &data[..FIELD - 4]), true),
        (format!("id: {}", &data[..FIELD - 3]), false),
    ] {
        let mut reader = SseReader::new(FIELD + 10);
        let mut events = read(&mut reader, line.as_bytes(), line.len());
        events.extend(read(&mut reader, b"\n\n", 1));
        let was_kept = match &events[..] {
            [] => reader.last_id().is_some(),
            [SseEvent { data: Received::Message(_), .. }] => true,
            _ => false,
        };
        assert_eq!(was_kept, is_kept, "{} of {} bytes", &line[..4], line.len());
    }
}

#[test]
fn an_id_is_bounded_even_if_it_comes_in_one_piece() {
    for (length, is_kept) in [(FIELD, true), (FIELD + 1, false)] {
        let mut reader = SseReader::new(100);
        let line = format!("id: {}\n\n", "x".repeat(length));
        read(&mut reader, line.as_bytes(), line.len());
        assert_eq!(reader.last_id().is_some(), is_kept, "{length}");
    }
}

#[test]
fn data_that_is_too_long_is_reported_once_at_constant_memory() {
    let mut bytes = b"data: ".to_vec();
    bytes.extend(vec![b'x'; 300_000]);
    bytes.extend_from_slice(b"\n\ndata: {}\n\n");
    for size in [1, 100, 70_000, 400_000] {
        let mut reader = SseReader::new(1000);
        let mut events = Vec::new();
        for piece in bytes.chunks(size) {
            events.extend(read(&mut reader, piece, piece.len()));
            assert!(reader.buffer.len() <= FIELD + 6, "it keeps what it skips");
        }
        assert!(
            matches!(&events[..], [SseEvent { data: Received::TooLong(skipped), .. }, rest]
                if skipped.head.len() == END && *rest == message("{}")),
            "{size}"
        );
    }
}

#[test]
fn many_lines_of_data_cannot_grow_past_the_limit() {
    let mut reader = SseReader::new(100);
    let bytes = b"data: 0123456789\n".repeat(1000);
    assert_eq!(read(&mut reader, &bytes, 50), []);
    assert!(matches!(&reader.data, Data::TooLong(_)));
    let events = read(&mut reader, b"\n", 1);
    assert!(matches!(events[..], [SseEvent { data: Received::TooLong(_), .. }]));
}

#[test]
fn the_ends_of_data_that_is_too_long_are_kept_however_it_is_cut() {
    let whole = format!(r#"{{"result":{{"a":"{}"}},"#, "x".repeat(200_000)) + "\n\"id\":\n7}";
    let bytes = format!("data: {}\nid: 1\n: no data\n\n", whole.replace('\n', "\ndata: "));
    for (limit, size) in [(10, 1), (100, 100), (100, 70_000), (1000, 400_000), (200_014, 70_000)] {
        let mut reader = SseReader::new(limit);
        let pieces = bytes.as_bytes().chunks(size);
        let events: Vec<_> = pieces.flat_map(|it| read(&mut reader, it, it.len())).collect();
        let [SseEvent { data: Received::TooLong(skipped), .. }] = &events[..] else {
            panic!("{limit} {size}")
        };
        assert!(whole.as_bytes().starts_with(&skipped.head), "{limit} {size}");
        assert!(whole.as_bytes().ends_with(&skipped.tail), "{limit} {size}");
        assert_eq!(skipped.id(), Some(7.into()), "{limit} {size}");
    }
}

#[test]
fn a_line_of_another_field_cannot_grow_without_end() {
    let mut reader = SseReader::new(1 << 20);
    for _ in 0..100 {
        assert_eq!(read(&mut reader, &[b':'; 10_000], 10_000), []);
        assert!(reader.buffer.len() <= FIELD);
    }
    assert_eq!(read(&mut reader, b"\n\ndata: 1\n\n", 100), [message("1")]);
}

#[test]
fn the_rest_of_a_line_that_is_too_long_is_not_a_new_line() {
    let mut reader = SseReader::new(100);
    for cut in 0..10 {
        assert_eq!(read(&mut reader, &[b':'; FIELD + 1], FIELD + 1), []);
        assert_eq!(read(&mut reader, b"data: forged\n\n", 1 + cut), [], "in pieces of {}", 1 + cut);
    }
}

#[test]
fn an_event_may_have_a_long_id_and_a_short_message() {
    let mut out = BytesMut::new();
    write_event(&mut out, Some("a-very-long-id-of-a-place"), b"1");
    write_event(&mut out, None, b"2");
    assert_eq!(out, "id: a-very-long-id-of-a-place\ndata: 1\n\ndata: 2\n\n");
}

#[test]
fn written_events_are_read_back_unchanged() {
    let json = "{\"text\":\"é \u{2028}\u{2029}\u{85} €\"}";
    let mut out = BytesMut::new();
    write_empty_event(&mut out, Some("a"), Some(Duration::from_secs(1)));
    write_event(&mut out, Some("b"), json.as_bytes());
    out.put_slice(KEEP_ALIVE);
    let written = std::str::from_utf8(&out).unwrap();
    let place = "id: a\nretry: 1000\ndata:\n\n";
    let event = "id: b\ndata: {\"text\":\"é \\u2028\\u2029\\u0085 €\"}\n\n";
    assert_eq!(written, format!("{place}{event}:\n\n"));
    let mut reader = SseReader::new(100);
    let events = read(&mut reader, &out, 5);
    let [SseEvent { data: Received::Message(data), .. }] = &events[..] else {
        panic!("{events:?}")
    };
    let read: serde_json::Value = serde_json::from_slice(data).unwrap();
    assert_eq!(read, serde_json::from_str::<serde_json::Value>(json).unwrap());
    assert_eq!(reader.last_id(), Some("b"));
}
