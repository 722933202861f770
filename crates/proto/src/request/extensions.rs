//! Values that layers pass on beside a request.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;

/// Values by their type, attached by outer layers for inner ones.
#[derive(Default)]
pub struct Extensions(HashMap<TypeId, Box<dyn Any + Send + Sync>>);

impl Extensions {
    /// Attaches a value, and gives back the one of that type that was there.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) -> Option<T> {
        let old = self.0.insert(TypeId::of::<T>(), Box::new(value))?;
        old.downcast().ok().map(|value| *value)
    }

    /// The value of a type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.get(&TypeId::of::<T>())?.downcast_ref()
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Extensions({})", self.0.len())
    }
}
