//! Nothing that the code around calls its own things gets into the way of a tool.

#![deny(warnings, missing_docs, unreachable_pub, missing_debug_implementations)]

struct Input;
struct Option;
struct Result;
struct String;
struct Tool;
struct Prompt;
struct Resource;
#[allow(dead_code)]
trait Clone {}
#[allow(dead_code)]
trait Send {}
#[allow(dead_code)]
trait Fn {}

/// Has parameters with the names of functions around it.
#[::bowline::tool]
async fn call(call: i64, tool: i64) -> i64 {
    call + tool
}

/// Is not async.
#[::bowline::tool(read_only)]
fn sync(#[arg(default = 1, range = 0..10)] serde: u8) -> i64 {
    ::core::convert::Into::into(serde)
}

/// Takes keywords.
#[::bowline::tool(name = "move.it")]
async fn r#move(r#type: i64, mut r#fn: i64) -> i64 {
    r#fn += 1;
    r#type + r#fn
}

/// Has lints of the caller.
#[::bowline::tool]
#[allow(non_snake_case)]
async fn camel(userId: i64, #[allow(unused_variables)] unused: i64) -> i64 {
    userId
}

/// Is not what people should call.
#[::bowline::tool]
#[deprecated]
async fn old() {}

/// Is a prompt.
#[::bowline::prompt]
fn prompt(prompt: i64, #[arg(default, complete = complete)] typed: i64) -> &'static str {
    if prompt == typed { "same" } else { "other" }
}

async fn complete() -> [&'static str; 1] {
    ["1"]
}

/// Is a resource.
#[::bowline::resource("a://{resource}")]
async fn resource(resource: i64) -> &'static str {
    if resource == 1 { "one" } else { "many" }
}

struct Shared;

#[::bowline::tool]
impl Shared {
    /// Has the name of a variable around it.
    #[::bowline::tool]
    async fn shared(&self, shared: i64) -> i64 {
        shared
    }
}

fn main() {
    #[::bowline::tool]
    fn inside(a: i64) -> i64 {
        a
    }
    let all = ::bowline::tools![call, sync, r#move, camel, self::old, inside];
    ::std::assert_eq!(all.len(), 6);
    let _ = (::bowline::prompts![prompt], ::bowline::resources![resource], Shared.tools());
    let _ = (Input, Option, Result, String, Tool, Prompt, Resource);
}
