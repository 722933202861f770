use bowline::tool;

#[tool]
unsafe fn search(query: String) -> String {
    query
}

#[tool]
extern "C" fn find(#[cfg(unix)] limit: u32) -> u32 {
    limit
}

fn main() {}
