//! Bounds on what a schema and a check may cost.

/// How much a schema and a check may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaLimits {
    /// How many levels schemas may nest, and values in `const` and `enum`.
    pub depth: usize,
    /// How many subschemas a schema may have.
    pub nodes: usize,
    /// How many kibibytes all compiled patterns of a schema may take.
    pub patterns: usize,
    /// How many levels a check may nest: one for each level of the value, and one for each schema
    /// in `allOf`, `anyOf` and similar keywords or behind a reference among them. It bounds the
    /// stack.
    pub nesting: usize,
    /// How many steps a check may take; roughly, how often a subschema meets a value. Reporting
    /// what is wrong may take as many again.
    pub steps: usize,
    /// How many violations a check reports.
    pub violations: usize,
}

impl Default for SchemaLimits {
    fn default() -> Self {
        Self {
            depth: 64,
            nodes: 10_000,
            patterns: 4096,
            nesting: 256,
            steps: 1_000_000,
            violations: 16,
        }
    }
}
