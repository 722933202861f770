//! What the `bowline` command knows and does, without a terminal: no arguments of a command line, no
//! questions to the user, no printing. The command turns what it finds here into text.
//!
//! In reading order:
//!
//! * [`folders`] — the folders of the user;
//! * [`discover`] — servers that configuration files of hosts name;
//! * [`danger`] — what is dangerous about the command of an entry; [`quoting`] — its words, short and
//!   recognizable;
//! * [`processes`] — how many processes of a command run;
//! * [`schema`] — the parameters of a tool, and how a person writes them;
//! * [`tokens`] — what text costs a model; [`lint`] — what hosts and models stumble over in lists;
//!   [`listed_names`] — findings from comparing the entries of a file with the lists of their servers;
//! * [`suggest`] — names that a user could have meant; [`hints`] — what to do when a server cannot be
//!   reached.

pub mod danger;
pub mod discover;
pub mod folders;
pub mod hints;
pub mod lint;
pub mod listed_names;
pub mod processes;
pub mod quoting;
pub mod schema;
pub mod suggest;
pub mod tokens;
