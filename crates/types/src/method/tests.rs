//! The order of the table, and what each revision removed or added.

use super::*;

#[test]
fn the_table_stands_in_the_order_of_the_variants() {
    for (position, row) in METHODS.iter().enumerate() {
        assert_eq!(row.method.position(), Ok(position), "{}", row.name);
        assert_eq!(Method::named(row.name), Some(row.method));
        assert_eq!(row.method.name(), row.name);
    }
}

// spec: ST-8
#[test]
fn the_stateless_revision_lacks_what_it_removed() {
    let removed = [
        Method::Initialize,
        Method::Ping,
        Method::LoggingSetLevel,
        Method::ResourcesSubscribe,
        Method::ResourcesUnsubscribe,
        Method::TasksResult,
        Method::TasksList,
        Method::Initialized,
        Method::RootsListChanged,
    ];
    for method in removed {
        assert!(!method.is_from_client(Revision::LATEST), "{method}");
        assert!(method.is_from_client(Revision::LATEST_LEGACY), "{method}");
    }
}

// spec: ST-6
#[test]
fn servers_send_no_requests_in_the_stateless_revision() {
    let requests = METHODS.iter().filter(|row| row.kind == MessageKind::Request);
    assert_eq!(requests.filter(|row| row.method.is_from_server(Revision::LATEST)).count(), 0);
}

#[test]
fn methods_with_effects_are_not_idempotent() {
    let acting = METHODS.iter().filter(|row| !row.method.is_idempotent());
    let acting: Vec<_> = acting.map(|row| row.name).collect();
    let expected = ["tools/call", "sampling/createMessage", "elicitation/create", "tasks/update"];
    assert_eq!(acting, expected);
}

#[test]
fn elicitation_begins_with_2025_06_18() {
    let method = Method::ElicitationCreate;
    assert!(!method.is_from_server(Revision::V2025_03_26));
    assert!(method.is_from_server(Revision::V2025_06_18));
    assert!(method.row().is_embedded_in(Revision::LATEST));
}
