//! What a client sees differently through the bridge, and why.

use super::{Cell, Client, LEGACY, MODERN, Server, Way};

/// A difference that is meant to be.
pub(super) struct Loss {
    pub(super) when: fn(&Cell, Way) -> bool,
    /// Where it is in the reports, with `*` for any step; everything below belongs to it.
    pub(super) at: &'static str,
    #[expect(dead_code, reason = "for readers")]
    why: &'static str,
}

impl Loss {
    pub(super) fn covers(&self, at: &str) -> bool {
        let mut steps = at.split('/');
        let fits = |step: &str, there: &str| step == "*" || step == there;
        self.at.split('/').all(|step| steps.next().is_some_and(|there| fits(step, there)))
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

/// Whether the server is the one that lists tools by what its client declares.
fn is_reference(cell: &Cell) -> bool {
    cell.server == Server::REFERENCE
}

fn is_python(cell: &Cell) -> bool {
    [Server::PYTHON, Server::FASTMCP].contains(&cell.server)
}

pub(super) const LOSSES: &[Loss] = &[
    Loss {
        when: |_, _| true,
        at: "/prompts/list/*/arguments/*/required",
        why: "an argument that is not required is not marked, which means the same",
    },
    Loss {
        when: |cell, _| is_python(cell),
        at: "/prompts/list/*/arguments",
        why: "an empty list is left out, which means the same",
    },
    Loss {
        when: |cell, _| is_python(cell),
        at: "/*/isError",
        why: "a result that is no error is not marked, which means the same",
    },
    Loss {
        when: |cell, _| is_python(cell),
        at: "/*/result/isError",
        why: "a result that is no error is not marked, which means the same",
    },
    Loss {
        when: |cell, way| !is_reference(cell) && (way == Way::Gateway || is_modern_behind(cell)),
        at: "/notFound",
        why: "a missing resource has the code of the caller's revision, in our words",
    },
    Loss {
        when: |cell, _| cell.client == Client::TYPESCRIPT_V1 && cell.server == Server::PYTHON,
        at: "/prompts/unknown",
        why: "the server answers otherwise in the era that the bridge speaks to it",
    },
    Loss {
        when: |_, way| way == Way::Gateway,
        at: "/server",
        why: "a gateway has a name of its own, and instructions only of servers that were started",
    },
    Loss {
        when: |cell, _| !is_modern_behind(cell) && falls_back(cell),
        at: "/tools/*/execution",
        why: "2026-07-28 has no such mark",
    },
    Loss {
        when: |cell, _| is_reference(cell) && falls_back(cell),
        at: "/toolsAfterwards/*/execution",
        why: "2026-07-28 has no such mark",
    },
    Loss {
        when: |cell, way| is_reference(cell) && way != Way::Connect,
        at: "/tools/get-roots-list",
        why: "roots are of one caller, and the connection is shared, so it does not declare them",
    },
    Loss {
        when: |cell, way| is_reference(cell) && way != Way::Connect,
        at: "/toolsAfterwards/get-roots-list",
        why: "roots are of one caller, and the connection is shared, so it does not declare them",
    },
    Loss {
        when: |_, way| way == Way::Gateway,
        at: "/*/asked/*/message",
        why: "a question begins with the name of its server, because the client knows the gateway only",
    },
];
