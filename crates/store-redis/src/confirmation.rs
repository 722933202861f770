//! What confirms writes: the replicas or the disk, asked by a command that follows the writes.

use redis::{Cmd, Pipeline, Value, cmd};

use crate::batch::REPLY;
use crate::failure::Failure;
use crate::options::RedisDurability;

/// Waits until as many copies as demanded have all that came before on its connection.
pub(crate) struct Confirmation {
    command: Cmd,
    wanted: usize,
}

impl Confirmation {
    /// `None` if the memory of the primary is enough.
    pub(crate) fn of(durability: RedisDurability) -> Option<Self> {
        // The database may notice the end of this time a tenth of a second later. Its answer, that too
        // few have confirmed, must still arrive in time.
        let time = (REPLY / 2).as_millis() as u64;
        let (command, wanted) = match durability {
            RedisDurability::Memory => return None,
            RedisDurability::Replicated(count) => {
                (cmd("WAIT").arg(count).arg(time).to_owned(), count)
            }
            RedisDurability::Fsync => (cmd("WAITAOF").arg(1).arg(0).arg(time).to_owned(), 1),
        };
        Some(Self { command, wanted })
    }

    /// Adds the command that waits.
    pub(crate) fn follow(&self, commands: &mut Pipeline) {
        commands.add_command(self.command.clone());
    }

    /// Checks the reply to the command that waits.
    pub(crate) fn check(&self, reply: Option<Value>) -> Result<(), Failure> {
        let count = match reply.map(Value::extract_error).transpose()? {
            Some(Value::Int(count)) => count,
            // `WAITAOF` returns the count of local files first.
            Some(Value::Array(counts)) => match counts.first() {
                Some(Value::Int(count)) => *count,
                _ => 0,
            },
            _ => 0,
        };
        if usize::try_from(count).unwrap_or(0) < self.wanted {
            return Err(Failure::Unfit(format!(
                "it was written, but only {count} of {} copies confirmed it in time",
                self.wanted
            )));
        }
        Ok(())
    }
}
