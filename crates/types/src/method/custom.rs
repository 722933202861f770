//! Methods of extensions that a program registers at run time.
//!
//! A registered method gets a row like those of the specification, so admission and dispatch treat
//! it the same way. Rows are kept until the process ends, once for each name: their number is
//! bounded by what the program registers. Names that a peer sends are only looked up.

use std::fmt;
use std::sync::{PoisonError, RwLock};

use super::{METHODS, MessageKind, Method, MethodDirection, Row, row};
use crate::invalid::invalid_value;
use crate::text::excerpt;

/// The most bytes of a name.
const LONGEST: usize = 128;

/// The rows of all registered methods, in the order of their registration.
static ROWS: RwLock<Vec<&'static Row>> = RwLock::new(Vec::new());

/// A method of an extension that the program registered. Two are equal if they have the same name.
///
/// ```
/// use bowline_types::method::{CustomMethod, MessageKind, Method};
///
/// assert_eq!(Method::named("search/run"), None);
/// let run = CustomMethod::register("search/run", MessageKind::Request).unwrap();
/// assert_eq!(Method::named("search/run"), Some(Method::Custom(run)));
/// assert!(CustomMethod::register("tools/call", MessageKind::Request).is_err());
/// ```
///
/// It is the place of its row in the table, in two bytes, because every request carries a
/// [`Method`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CustomMethod(u16);

impl CustomMethod {
    /// Registers a method, or finds the one that is registered under this name already.
    ///
    /// A registered name is kept until the program ends. So names are those of the program, and never
    /// come from messages of a peer.
    ///
    /// Either side may send it, except that servers send no requests since 2026-07-28. Running it
    /// twice may differ from running it once, so clients do not repeat it by themselves.
    ///
    /// # Errors
    ///
    /// If the specification has a method of this name, the name is empty, longer than 128 bytes or
    /// holds anything but visible ASCII characters, or the program has registered a method of the
    /// other kind under it, or 65,536 others.
    pub fn register(name: &str, kind: MessageKind) -> Result<Self, InvalidMethod> {
        check(name)?;
        // A name that is known, which is the usual case, does not hold up readers.
        let known = find(&ROWS.read().unwrap_or_else(PoisonError::into_inner), name, kind);
        if let Some(found) = known {
            return found;
        }
        let mut rows = ROWS.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = find(&rows, name, kind) {
            return found;
        }
        let place = u16::try_from(rows.len());
        let method = Self(place.map_err(|_| InvalidMethod::new(name, "there are too many"))?);
        rows.push(Box::leak(Box::new(method.make_row(Box::leak(name.into()), kind))));
        Ok(method)
    }

    /// Finds a registered method.
    pub(super) fn named(name: &str) -> Option<Method> {
        let rows = ROWS.read().unwrap_or_else(PoisonError::into_inner);
        rows.iter().find(|row| row.name == name).map(|row| row.method)
    }

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    pub(super) fn row(self) -> &'static Row {
        let rows = ROWS.read().unwrap_or_else(PoisonError::into_inner);
        // Every method of this type has a row.
        rows.get(usize::from(self.0)).copied().unwrap_or(&METHODS[0])
    }

    fn make_row(self, name: &'static str, kind: MessageKind) -> Row {
        let row = row(Method::Custom(self), name, kind, MethodDirection::Both).acts();
        match kind {
            MessageKind::Request => row.extends(MethodDirection::FromClient),
            MessageKind::Notification => row.extends(MethodDirection::Both),
        }
    }
}

/// The method that is registered under a name.
fn find(
    rows: &[&'static Row],
    name: &str,
    kind: MessageKind,
) -> Option<Result<CustomMethod, InvalidMethod>> {
    let row = rows.iter().find(|row| row.name == name)?;
    Some(match row.method {
        Method::Custom(method) if row.kind == kind => Ok(method),
        _ => Err(InvalidMethod::new(
            name,
            "the program has registered it as a request and as a notification",
        )),
    })
}

impl fmt::Debug for CustomMethod {
    /// The name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CustomMethod").field(&self.name()).finish()
    }
}

invalid_value! {
    /// The error for a name that a method of an extension cannot have.
    InvalidMethod, "method"
}

fn check(name: &str) -> Result<(), InvalidMethod> {
    let problem = if name.is_empty() {
        "it is empty"
    } else if METHODS.iter().any(|row| row.name == name) {
        "the specification has a method of this name"
    } else if name.starts_with("rpc.") {
        "names that begin with `rpc.` belong to JSON-RPC"
    } else if name.len() > LONGEST {
        "it is longer than 128 bytes"
    } else if !name.bytes().all(|byte| byte.is_ascii_graphic()) {
        "it has a character that is not visible ASCII, or a blank"
    } else {
        return Ok(());
    };
    Err(InvalidMethod::new(excerpt(name), problem))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revision::Revision;

    #[test]
    fn a_registered_method_is_found_by_its_name_and_has_a_row() {
        let method = CustomMethod::register("custom/one", MessageKind::Request).unwrap();
        assert_eq!(CustomMethod::register("custom/one", MessageKind::Request), Ok(method));
        let method = Method::Custom(method);
        assert_eq!(Method::named("custom/one"), Some(method));
        assert_eq!((method.name(), method.row().method), ("custom/one", method));
        assert!(!method.is_idempotent() && !method.may_ask());
    }

    // spec: ST-6
    #[test]
    fn servers_send_no_requests_of_extensions_in_the_stateless_revision() {
        let request = CustomMethod::register("custom/two", MessageKind::Request).unwrap();
        let note = CustomMethod::register("custom/note", MessageKind::Notification).unwrap();
        let (request, note) = (Method::Custom(request), Method::Custom(note));
        assert!(
            !request.is_from_server(Revision::LATEST) && request.is_from_client(Revision::LATEST)
        );
        assert!(request.is_from_server(Revision::LATEST_LEGACY));
        assert!(note.is_from_server(Revision::LATEST) && note.is_from_client(Revision::LATEST));
    }

    #[test]
    fn a_name_that_a_peer_asks_for_is_not_registered() {
        assert_eq!(Method::named("custom/unknown"), None);
        assert_eq!(Method::named("custom/unknown"), None);
        assert!(ROWS.read().unwrap().iter().all(|row| row.name != "custom/unknown"));
    }

    #[test]
    fn names_that_no_extension_can_have_are_refused() {
        let long = "x".repeat(129);
        for name in ["", "tools/call", "rpc.x", "a b", "é", &long] {
            let error = CustomMethod::register(name, MessageKind::Request).unwrap_err().to_string();
            assert!(error.starts_with("method `") && error.len() < 250, "{error}");
        }
        CustomMethod::register("custom/three", MessageKind::Request).unwrap();
        let error = CustomMethod::register("custom/three", MessageKind::Notification).unwrap_err();
        assert!(error.to_string().contains("as a request and as a notification"), "{error}");
    }
}
