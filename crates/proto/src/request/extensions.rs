//! Values that layers attach to a request.
//!
//! An HTTP server attaches the head of the request and the address of the peer, a layer perhaps the
//! user that it has authenticated. Handlers read them by type. They are a list and not a map: there
//! are few, and a list of shared nodes makes the clone of a request cheap.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Values by their type, attached by outer layers for inner ones. A clone is cheap: it shares the
/// values.
#[derive(Clone, Default)]
pub struct Extensions(Option<Arc<Node<dyn Any + Send + Sync>>>);

/// A value, and the values attached before it.
struct Node<T: ?Sized> {
    earlier: Extensions,
    value: T,
}

impl Extensions {
    /// Attaches a value. It hides an earlier value of the same type. Earlier clones do not see it.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        let earlier = std::mem::take(self);
        self.0 = Some(Arc::new(Node { earlier, value }));
    }

    /// The value of a type, if one is attached.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.nodes().find_map(|node| node.value.downcast_ref())
    }

    /// The attached values, the newest first.
    fn nodes(&self) -> impl Iterator<Item = &Node<dyn Any + Send + Sync>> {
        std::iter::successors(self.0.as_deref(), |node| node.earlier.0.as_deref())
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Extensions({})", self.nodes().count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_that_was_attached_last_counts() {
        let mut extensions = Extensions::default();
        assert_eq!(extensions.get::<u8>(), None);
        extensions.insert(1_u8);
        extensions.insert("text");
        let before = extensions.clone();
        extensions.insert(2_u8);
        assert_eq!((extensions.get::<u8>(), before.get::<u8>()), (Some(&2), Some(&1)));
        assert_eq!(extensions.get::<&str>(), Some(&"text"));
    }
}
