//! What a client sees differently through the bridge: where, what it sees instead, and why.

use serde_json::{Value, json};

use super::comparison::change;
use super::{Cell, Client, LEGACY, MODERN, Server, Way};

/// A difference that is meant to be.
pub(super) struct Loss {
    pub(super) when: fn(&Cell, Way) -> bool,
    /// Where it is in the reports, with `*` for any step.
    pub(super) at: &'static str,
    /// What the client sees through the bridge; the last value is what it sees without. `Null` is
    /// the value of what is absent.
    gives: fn(&Cell, Way, &Value) -> Value,
    #[expect(dead_code, reason = "for readers")]
    why: &'static str,
}

impl Loss {
    /// Changes the report of a client without a bridge to what the client must see through it, and
    /// says whether that makes a difference.
    pub(super) fn apply(&self, cell: &Cell, way: Way, report: &mut Value) -> bool {
        let steps: Vec<&str> = self.at.split('/').skip(1).collect();
        change(report, &steps, &|direct| (self.gives)(cell, way, direct))
    }
}

/// Whether the bridge speaks to the server without a handshake.
fn is_modern_behind(cell: &Cell) -> bool {
    ![Server::TYPESCRIPT_V1, Server::REFERENCE].contains(&cell.server)
}

/// Whether the client speaks another era to the bridge than to the server itself.
fn falls_back(cell: &Cell) -> bool {
    cell.client.revision == MODERN && cell.client.direct == LEGACY
}

/// Whether the server is the one that lists tools by what its client declares, and that clients use
/// by its own features.
fn is_reference(cell: &Cell) -> bool {
    cell.server == Server::REFERENCE
}

fn is_python(cell: &Cell) -> bool {
    [Server::PYTHON, Server::FASTMCP].contains(&cell.server)
}

/// Whether the connection to the server belongs to one client, the host that started the bridge, and
/// so declares roots.
fn is_of_one_client(way: Way) -> bool {
    matches!(way, Way::Connect | Way::Gateway)
}

fn nothing(_: &Cell, _: Way, _: &Value) -> Value {
    Value::Null
}

/// `false`, where it is the default, is left out.
fn marked_if_true(_: &Cell, _: Way, direct: &Value) -> Value {
    if *direct == json!(false) { Value::Null } else { direct.clone() }
}

/// How errors of the bridge name the server.
fn name(cell: &Cell, way: Way) -> String {
    match way.is_gateway() {
        true => "peer".to_owned(),
        false => cell.server.script.split('.').next().unwrap().replace('_', "-"),
    }
}

/// A message of the server to the user: clients of a gateway know only the gateway.
fn attributed(_: &Cell, way: Way, direct: &Value) -> Value {
    match direct.as_str() {
        Some(text) if way.is_gateway() => format!("peer: {text}").into(),
        _ => direct.clone(),
    }
}

/// An error, in the words of the bridge. The SDK of TypeScript 1.x puts the code before them.
fn error(cell: &Cell, code: i64, words: &str, data: &Value) -> Value {
    let is_first = cell.client == Client::TYPESCRIPT_V1;
    let words = if is_first { format!("MCP error {code}: {words}") } else { words.to_owned() };
    json!({ "code": code, "message": words, "data": data })
}

fn not_found(cell: &Cell, _: Way, _: &Value) -> Value {
    let code = if cell.client.revision == LEGACY { -32002 } else { -32602 };
    // The features of TypeScript do not report the data.
    let reports_data = cell.client.program[0].ends_with(".py");
    let data = if reports_data { json!({ "uri": "peer://nothing" }) } else { Value::Null };
    error(cell, code, "no resource has the URI `peer://nothing`", &data)
}

/// Roots are of one client; the connection is shared, and so does not declare them.
fn without_roots(_: &Cell, _: Way, _: &Value) -> Value {
    let text = "MCP error -32601: this client does not offer `roots/list`";
    json!({ "content": [{ "type": "text", "text": text }], "isError": true })
}

/// A page that is demanded first is a question for a client without a session.
fn page_asked(cell: &Cell, way: Way, direct: &Value) -> Value {
    let message = attributed(cell, way, &"Sign in there.".into());
    let page = json!({ "message": message, "url": "https://example.com/sign-in" });
    json!({ "result": direct["result"], "asked": [page] })
}

/// A client without a session refuses by not calling again: the call ends there.
fn refused_by_itself(cell: &Cell, _: Way, _: &Value) -> Value {
    let code = if cell.client.program[0].ends_with(".py") { -32603 } else { -1 };
    error(cell, code, "not today", &Value::Null)
}

/// A server without a handshake hears of no refusal: the bridge ends the call.
fn refused_by_the_bridge(cell: &Cell, way: Way, _: &Value) -> Value {
    let server = name(cell, way);
    let words = format!(
        "`tools/call`: the server `{server}` asked a question that was not answered: not today"
    );
    error(cell, -32603, &words, &json!({ "server": server, "mayHaveRun": true }))
}

/// The messages of the levels that the client asked for.
fn from_warning_on(_: &Cell, _: Way, direct: &Value) -> Value {
    let messages = direct.as_array().unwrap().iter();
    messages.filter(|it| it["level"] == "warning" || it["level"] == "error").cloned().collect()
}

pub(super) const LOSSES: &[Loss] = &[
    Loss {
        when: |_, _| true,
        at: "/prompts/list/*/arguments/*/required",
        gives: marked_if_true,
        why: "an argument that is not required is not marked, which means the same",
    },
    Loss {
        when: |cell, _| is_python(cell),
        at: "/prompts/list/illustrate/arguments",
        gives: |_, _, direct| if *direct == json!([]) { Value::Null } else { direct.clone() },
        why: "an empty list is left out, which means the same",
    },
    Loss {
        when: |cell, _| is_python(cell),
        at: "/*/isError",
        gives: marked_if_true,
        why: "a result that is no error is not marked, which means the same",
    },
    Loss {
        when: |cell, _| is_python(cell),
        at: "/*/result/isError",
        gives: marked_if_true,
        why: "a result that is no error is not marked, which means the same",
    },
    Loss {
        when: |cell, _| is_python(cell),
        at: "/rootsChange/roots/isError",
        gives: marked_if_true,
        why: "a result that is no error is not marked, which means the same",
    },
    Loss {
        when: |cell, way| !is_reference(cell) && (way.is_gateway() || is_modern_behind(cell)),
        at: "/notFound",
        gives: not_found,
        why: "a missing resource has the code of the caller's revision, in our words",
    },
    Loss {
        when: |cell, _| cell.client == Client::TYPESCRIPT_V1 && cell.server == Server::PYTHON,
        at: "/prompts/unknown",
        gives: |cell, _, _| error(cell, -32603, "Internal server error", &Value::Null),
        why: "the server answers otherwise in the era that the bridge speaks to it",
    },
    Loss {
        when: |_, way| way.is_gateway(),
        at: "/server",
        gives: |_, _, _| json!({ "name": "bowline", "version": env!("CARGO_PKG_VERSION") }),
        why: "a gateway has a name of its own, and instructions only of servers that were started",
    },
    Loss {
        when: |cell, _| !is_modern_behind(cell) && falls_back(cell),
        at: "/tools/*/execution",
        gives: nothing,
        why: "2026-07-28 has no such mark",
    },
    Loss {
        when: |cell, _| is_reference(cell) && falls_back(cell),
        at: "/toolsAfterwards/*/execution",
        gives: nothing,
        why: "2026-07-28 has no such mark",
    },
    Loss {
        when: |cell, way| is_reference(cell) && !is_of_one_client(way),
        at: "/tools/get-roots-list",
        gives: nothing,
        why: "roots are of one client, and the connection is shared, so it does not declare them",
    },
    Loss {
        when: |cell, way| is_reference(cell) && !is_of_one_client(way),
        at: "/toolsAfterwards/get-roots-list",
        gives: nothing,
        why: "roots are of one client, and the connection is shared, so it does not declare them",
    },
    Loss {
        when: |_, way| way.is_gateway(),
        at: "/*/asked/*/message",
        gives: attributed,
        why: "a question begins with the name of its server, because the client knows the gateway only",
    },
    Loss {
        when: |cell, way| {
            cell.client.revision == LEGACY
                && cell.server == Server::TYPESCRIPT_V1
                && way.is_gateway()
        },
        at: "/pageFirst/refused/data/elicitations/*/message",
        gives: attributed,
        why: "so does a page that is demanded first",
    },
    Loss {
        when: |cell, _| !is_reference(cell) && falls_back(cell),
        at: "/pageFirst",
        gives: page_asked,
        why: "2026-07-28 has no such demand: the user is asked, and the call made again",
    },
    Loss {
        when: |cell, _| !is_reference(cell) && falls_back(cell),
        at: "/samplingRefused",
        gives: refused_by_itself,
        why: "in 2026-07-28 no message says that the client refuses",
    },
    Loss {
        when: |cell, _| cell.client.revision == LEGACY && is_modern_behind(cell),
        at: "/samplingRefused",
        gives: refused_by_the_bridge,
        why: "in 2026-07-28 no message says that the client refuses",
    },
    Loss {
        when: |cell, way| {
            let is_http = matches!(way, Way::Connect | Way::GatewayOverHttp);
            cell.server == Server::TYPESCRIPT_V1 && falls_back(cell) && is_http
        },
        at: "/logging",
        gives: |_, _, _| json!([]),
        why: "the server sends log messages on the stream that belongs to no call",
    },
    Loss {
        when: |cell, _| cell.client == Client::TYPESCRIPT_V1 && cell.server == Server::PYTHON,
        at: "/logging",
        gives: from_warning_on,
        why: "with a handshake the server sends all levels; without, those that the call states",
    },
    Loss {
        when: |cell, way| !is_reference(cell) && !is_modern_behind(cell) && !is_of_one_client(way),
        at: "/roots",
        gives: without_roots,
        why: "roots are of one client, and the connection is shared, so it does not declare them",
    },
    Loss {
        when: |cell, way| !is_reference(cell) && !is_modern_behind(cell) && !is_of_one_client(way),
        at: "/rootsChange/roots",
        gives: without_roots,
        why: "roots are of one client, and the connection is shared, so it does not declare them",
    },
    Loss {
        when: |cell, way| {
            // FastMCP does not tell of changes at all.
            let tells = cell.client.direct == LEGACY && cell.server != Server::FASTMCP;
            let crosses = cell.client.revision == LEGACY && !is_modern_behind(cell);
            tells && !is_reference(cell) && !(crosses && is_of_one_client(way))
        },
        at: "/rootsChange/heard",
        gives: |_, _, _| json!(0),
        why: "2026-07-28 has no such notification, and a shared connection has no roots",
    },
    Loss {
        when: |cell, _| {
            // The SDK of Python has these values for absent ones too.
            let shows = !cell.client.program[0].ends_with(".py");
            shows && falls_back(cell) && !is_reference(cell)
        },
        at: "/caching/*",
        gives: |_, _, _| json!({ "ttlMs": 0, "cacheScope": "private" }),
        why: "a server with a handshake says nothing of caching, and 2026-07-28 demands that it is said",
    },
    Loss {
        when: |cell, _| falls_back(cell) && !is_reference(cell),
        at: "/ping/refused",
        gives: |_, _, _| json!(true),
        why: "2026-07-28 has no ping",
    },
];
