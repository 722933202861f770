//! Which session makes room, and how many are looked at to find it.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use super::*;

/// A session that counts how often it is looked at.
#[derive(Clone)]
struct Fake {
    id: String,
    idle_since: Rc<Cell<Option<Instant>>>,
    looks: Rc<Cell<usize>>,
}

impl Idle for Fake {
    fn id(&self) -> &str {
        &self.id
    }

    fn idle_since(&self) -> Option<Instant> {
        self.looks.set(self.looks.get() + 1);
        self.idle_since.get()
    }
}

struct Scene {
    table: Table<Fake, &'static str>,
    start: Instant,
    looks: Rc<Cell<usize>>,
}

impl Scene {
    fn new(all: usize, of_caller: usize) -> Self {
        let table = Table::new(Bounds { all, of_caller });
        Self { table, start: Instant::now(), looks: Rc::default() }
    }

    fn at(&self, second: u64) -> Instant {
        self.start + Duration::from_secs(second)
    }

    /// Adds a session that is of use at a second; gives who made room.
    fn add(&mut self, id: &str, caller: &'static str, second: u64) -> Result<Vec<String>, Full> {
        let now = self.at(second);
        let idle_since = Rc::new(Cell::new(Some(now)));
        let fake = Fake { id: id.to_owned(), idle_since, looks: self.looks.clone() };
        let evicted = self.table.insert(fake, caller, now)?;
        Ok(evicted.into_iter().map(|fake| fake.id).collect())
    }

    fn set(&self, id: &str, idle_since: Option<Instant>) {
        self.table.get(id).unwrap().idle_since.set(idle_since);
    }
}

#[test]
fn the_one_that_has_been_idle_longest_makes_room() {
    let mut scene = Scene::new(3, 3);
    for (id, second) in [("a", 1), ("b", 2), ("c", 3)] {
        assert_eq!(scene.add(id, "x", second), Ok(vec![]));
    }
    // The table does not know that the oldest was of use again, and one is now.
    scene.set("a", Some(scene.at(5)));
    scene.set("b", None);
    assert_eq!(scene.add("d", "x", 6), Ok(vec!["c".to_owned()]));
    assert_eq!(scene.add("e", "x", 7), Ok(vec!["a".to_owned()]));
    scene.set("d", None);
    scene.set("e", None);
    assert_eq!(scene.add("f", "x", 8), Err(Full::OfCaller));
    scene.set("b", Some(scene.at(8)));
    assert_eq!(scene.add("f", "x", 9), Ok(vec!["b".to_owned()]));
    assert_eq!(scene.table.len(), 3);
}

#[test]
fn a_caller_that_has_too_many_makes_room_among_its_own() {
    let mut scene = Scene::new(4, 2);
    assert_eq!(scene.add("old", "other", 1), Ok(vec![]));
    for (id, second) in [("a", 2), ("b", 3)] {
        assert_eq!(scene.add(id, "x", second), Ok(vec![]));
    }
    for (id, evicted) in [("c", "a"), ("d", "b"), ("e", "c")] {
        assert_eq!(scene.add(id, "x", 4), Ok(vec![evicted.to_owned()]));
    }
    scene.set("d", None);
    scene.set("e", None);
    assert_eq!(scene.add("f", "x", 5), Err(Full::OfCaller));
    // If all together are too many, a session of any caller makes room.
    assert_eq!(scene.add("g", "other", 6), Ok(vec![]));
    assert_eq!(scene.add("h", "third", 7), Ok(vec!["old".to_owned()]));
    scene.set("g", None);
    scene.set("h", None);
    assert_eq!(scene.add("i", "fourth", 8), Err(Full::OfAll));
}

#[test]
fn a_full_table_is_not_searched_from_end_to_end() {
    const MANY: usize = 20_000;
    let mut scene = Scene::new(MANY, MANY + 1);
    for number in 0..MANY {
        scene.add(&number.to_string(), "x", 0).unwrap();
        scene.set(&number.to_string(), None);
    }
    for second in 1..=10 {
        scene.looks.set(0);
        assert_eq!(scene.add("new", "x", second), Err(Full::OfAll));
        assert!(scene.looks.get() <= LOOKS, "{} looks", scene.looks.get());
    }
    // One is found as soon as it is the first in order, as it is after a sweep.
    scene.set("7", Some(scene.at(1)));
    let sweep = scene.at(20);
    (0..MANY).filter(|number| *number != 7).for_each(|number| {
        scene.table.touch(&number.to_string(), sweep);
    });
    scene.looks.set(0);
    assert_eq!(scene.add("new", "x", 21), Ok(vec!["7".to_owned()]));
    assert!(scene.looks.get() <= 2);
}

#[test]
fn what_is_removed_leaves_nothing() {
    let mut scene = Scene::new(3, 3);
    scene.add("a", "x", 1).unwrap();
    scene.add("b", "y", 2).unwrap();
    scene.table.touch("a", scene.at(3));
    for id in ["a", "b"] {
        assert_eq!(scene.table.remove(id).map(|fake| fake.id), Some(id.to_owned()));
        assert!(scene.table.remove(id).is_none());
    }
    assert!(scene.table.order.is_empty() && scene.table.of_callers.is_empty());
    scene.add("c", "x", 4).unwrap();
    assert_eq!(scene.table.take().len(), 1);
    assert!(scene.table.len() == 0 && scene.table.order.is_empty());
}
