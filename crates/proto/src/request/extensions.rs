//! Values that layers pass on beside a request.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

/// Values by their type, attached by outer layers for inner ones.
#[derive(Clone, Default)]
pub struct Extensions(Vec<(TypeId, Arc<dyn Any + Send + Sync>)>);

impl Extensions {
    /// Attaches a value in place of the one of that type that was there.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        let key = TypeId::of::<T>();
        self.0.retain(|(other, _)| *other != key);
        self.0.push((key, Arc::new(value)));
    }

    /// The value of a type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        let key = TypeId::of::<T>();
        let (_, value) = self.0.iter().find(|(other, _)| *other == key)?;
        value.downcast_ref()
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Extensions({})", self.0.len())
    }
}
