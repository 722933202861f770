//! Dates as text, and the predicates that exclude each other.

use super::*;

// spec: LIFE-25
#[test]
fn a_revision_is_read_from_its_whole_date_only() {
    for revision in Revision::ALL {
        assert_eq!(revision.as_str().parse(), Ok(revision));
    }
    for near in ["2025-06-19", "2025-06", "2025-06-18 ", "2025-6-18", "DRAFT-2026-v1", ""] {
        assert_eq!(near.parse::<Revision>().unwrap_err().as_str(), near);
    }
}

#[test]
fn only_the_latest_revision_is_stateless() {
    let modern: Vec<_> = Revision::ALL.into_iter().filter(|r| r.is_modern()).collect();
    assert_eq!(modern, [Revision::LATEST]);
}

#[test]
fn every_revision_has_one_way_to_ask() {
    for revision in Revision::ALL {
        assert_ne!(revision.has_server_requests(), revision.has_input_requests());
        assert_ne!(revision.has_handshake(), revision.is_modern());
    }
}

#[test]
fn an_unknown_revision_says_which_are_known() {
    let error = "1.0".parse::<Revision>().unwrap_err().to_string();
    assert!(error.contains("`1.0`") && error.contains("2024-11-05, 2025-03-26"), "{error}");
}
