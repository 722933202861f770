//! The rules of servers that no observer watches, each with the reason.
//!
//! Together with [`rules`](crate::rules) this covers every MUST of the ledger that binds servers; a
//! test compares both with `docs/spec`.

/// Why a rule has no observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnseenRules {
    /// The reason.
    pub reason: &'static str,
    /// The ids of the rules.
    pub ids: &'static [&'static str],
}

/// All of them, by reason.
pub const UNSEEN: &[UnseenRules] = &[
    UnseenRules {
        reason: "another rule with an observer says the same",
        ids: &[
            "CAP-2", "STDIO-3", "HTTP-47", "ST-6", "MRTR-1", "SUB-4", "TASK-21", "TASK-30",
            "TASK-40", "TASK-41", "TASK-58", "RQM-7", "RQM-10", "XMH-21", "XMH-24", "EXT-1",
            "EXT-6", "EXT-7", "XN-2", "XTASK-7", "XTASK-51", "XTASK-15", "TASK-85", "PRM-1",
            "PRM-13", "COMP-14", "ELIC-4", "ELIC-40", "SAMP-14", "SAMP-37", "HDR-12", "PROG-11",
            "TR-7", "ERA-2", "XTASK-5", "XTASK-25", "XTASK-37",
        ],
    },
    UnseenRules {
        reason: "it is about what a program does inside, or with data that only it knows",
        ids: &[
            "ERR-8", "META-1", "META-9", "SCH-1", "SCH-3", "SCH-4", "SCH-8", "SCH-10", "LOG-12",
            "LOG-13", "LOG-14", "COMP-15", "COMP-16", "COMP-17", "STDIO-11", "TOOL-43", "TOOL-44",
            "TOOL-45", "RSRC-23", "RSRC-27", "PRMT-19", "SAMP-24", "ELIC-7", "ELIC-8", "ELIC-9",
            "ELIC-28", "ELIC-31", "ELIC-37", "ELIC-41", "ELIC-42", "ELIC-43", "ELIC-44", "ELIC-45",
            "ELIC-46", "ELIC-47", "ELIC-48", "ELIC-49", "ELIC-50", "ELIC-59", "ELIC-60", "ELIC-71",
            "ELIC-73", "ELIC-74", "ELIC-75", "ELIC-78", "ST-1", "ST-4", "ST-5", "MRTR-9",
            "MRTR-10", "MRTR-16", "MRTR-17", "CACHE-15", "CACHE-23", "CACHE-24", "CACHE-25",
            "TASK-18", "TASK-36", "TASK-69", "XTASK-10", "XTASK-47", "EXT-3", "EXT-4", "APP-8",
        ],
    },
    UnseenRules {
        reason: "it needs callers with access tokens of an authorization server",
        ids: &[
            "SESS-12", "SESS-13", "AUTH-4", "AUTH-7", "AUTH-8", "ASM-13", "CIMD-1", "SCOPE-19",
            "TOK-4", "TOK-5", "TOK-6", "TOK-7", "TOK-9", "TOK-10", "TOK-11", "TOK-12", "TOK-13",
            "TOK-14", "TOK-17", "PROXY-1", "PROXY-2", "PROXY-3", "PROXY-4", "PROXY-5", "PROXY-6",
            "PROXY-7", "PROXY-9", "PROXY-10", "SBP-12", "SBP-13", "TASK-67", "TASK-71", "TASK-72",
            "XTASK-48", "OCC-1", "OCC-7", "OCC-9",
        ],
    },
    UnseenRules {
        reason: "of a server it asks nothing: it binds clients, intermediaries or transports of one's own",
        ids: &[
            "LIFE-1", "CANC-3", "CANC-17", "TASK-4", "TASK-5", "TASK-48", "TASK-53", "TR-3",
            "TR-4", "HDR-15", "XMH-8", "XMH-25",
        ],
    },
    UnseenRules {
        reason: "it shows only after something that no client can bring about",
        ids: &[
            "RESUME-7", "ERR-5", "CANC-16", "CANC-18", "SUB-16", "TASK-63", "XTASK-42", "XTASK-44",
            "XTASK-45", "TASK-38", "TASK-39", "TASK-42", "TASK-44", "TASK-52",
        ],
    },
    UnseenRules {
        reason: "it is about HTTP+SSE of 2024-11-05, which the check does not speak",
        ids: &["SSE1-1", "SSE1-2", "SSE1-4"],
    },
];
