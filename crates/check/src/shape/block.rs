//! The kinds of content blocks, and the revisions that have them.

use bowline_types::revision::Revision;

/// A kind of block: what stands in `type`, the type of the table, and where it exists.
pub(super) struct BlockKind {
    pub(super) word: &'static str,
    pub(super) name: &'static str,
    pub(super) exists: fn(Revision) -> bool,
}

const TEXT: BlockKind = BlockKind { word: "text", name: "TextContent", exists: |_| true };
const IMAGE: BlockKind = BlockKind { word: "image", name: "ImageContent", exists: |_| true };
const AUDIO: BlockKind =
    BlockKind { word: "audio", name: "AudioContent", exists: Revision::has_audio };

/// In results of tools and messages of prompts.
pub(super) const CONTENT: &[BlockKind] = &[
    TEXT,
    IMAGE,
    AUDIO,
    BlockKind { word: "resource", name: "EmbeddedResource", exists: |_| true },
    BlockKind { word: "resource_link", name: "ResourceLink", exists: Revision::has_resource_links },
];

/// In messages of sampling.
pub(super) const SAMPLING: &[BlockKind] = &[
    TEXT,
    IMAGE,
    AUDIO,
    BlockKind { word: "tool_use", name: "ToolUseContent", exists: Revision::has_sampling_tools },
    BlockKind {
        word: "tool_result",
        name: "ToolResultContent",
        exists: Revision::has_sampling_tools,
    },
];
