use bowline::{resource, resources};

struct Note;

#[resource("notes://{day}")]
async fn note(day: String) -> Note {
    let _ = day;
    Note
}

#[resource("notes://{note}/next")]
async fn next(note: Note) -> String {
    let Note = note;
    String::new()
}

fn main() {
    let _ = resources![note, next];
}
