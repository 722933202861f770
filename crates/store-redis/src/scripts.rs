//! The Lua scripts, for operations that compare before they write.
//!
//! Scripts, not functions of Redis: functions have to be installed by an administrator, and two
//! releases of a program could not have different ones. The database knows a script by its digest; one
//! that it does not know is sent whole.
//!
//! A value is stored as its version, eight random bytes, and its content. A log is a hash: field `h`
//! holds the oldest position, the next position and the bytes; each item has its position as its
//! field, and is stored as a token, eight random bytes, and its content. The token shows whether an
//! append whose reply was lost has taken place.

use std::sync::LazyLock;

use redis::{Cmd, Script, cmd};

/// The bytes of a version or a token.
pub(crate) const HEAD: usize = 8;

/// A script and its digest.
pub(crate) struct StoredScript(LazyLock<(Script, &'static str)>);

macro_rules! script {
    ($text:expr) => {
        StoredScript(LazyLock::new(|| (Script::new($text), $text)))
    };
}

impl StoredScript {
    /// The command that runs it by its digest.
    pub(crate) fn by_digest(&self) -> Cmd {
        let mut command = cmd("EVALSHA");
        command.arg(self.0.0.get_hash());
        command
    }

    /// The command that sends it whole.
    pub(crate) fn whole(&self) -> Cmd {
        let mut command = cmd("EVAL");
        command.arg(self.0.1);
        command
    }
}

/// `KEYS`: the value. `ARGV`: expiry in milliseconds. Returns the value.
///
/// It may run when the memory is full, because prolonging needs none. It prolongs earlier than `renew`
/// has to: see [`Renewals`](crate::renewals::Renewals).
pub(crate) static RENEW: StoredScript = script!(
    "#!lua flags=allow-oom
local value = redis.call('GET', KEYS[1])
local expiry = tonumber(ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left >= 0 and left < expiry * 0.875 then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return value"
);

/// `KEYS`: the value. `ARGV`: version, content, expiry, and the version that is expected, empty for
/// none. Returns 1 if it is set. Finding the new version is success: then this is a repetition. It
/// writes too, because replicas and the disk confirm only what the own connection has written.
pub(crate) static PUT: StoredScript = script!(
    "#!lua
local found = redis.call('GETRANGE', KEYS[1], 0, 7)
if found == ARGV[1] then
    redis.call('PEXPIRE', KEYS[1], ARGV[3])
    return 1
end
if found ~= ARGV[4] then
    return 0
end
if tonumber(ARGV[3]) > 0 then
    redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2], 'PX', ARGV[3])
else
    redis.call('DEL', KEYS[1])
end
return 1"
);

/// `KEYS`: the value. `ARGV`: a version, and the expiry that was set with it. Returns 1 if the value has
/// the version. Like [`PUT`], it writes then.
pub(crate) static LOOK: StoredScript = script!(
    "#!lua flags=allow-oom
if redis.call('GETRANGE', KEYS[1], 0, 7) ~= ARGV[1] then
    return 0
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1"
);

/// [`APPEND`] returns this if the mark is gone or names another owner.
pub(crate) const FENCED: i64 = -1;

/// [`FIND`] returns this if there is no such item.
pub(crate) const NOT_FOUND: i64 = -2;

/// `KEYS`: the log, and the mark if there is one. `ARGV`: token, content, expiry, the position to exceed,
/// the most bytes and items of a log, topic (empty for none), message, the step of the mark, its owner,
/// its version, and 1 if there is an item or 0 if the log is only kept. Returns the newest position.
pub(crate) static APPEND: StoredScript = script!(
    "#!lua
local log, expiry = KEYS[1], tonumber(ARGV[3])
local head = redis.call('HGET', log, 'h')
local oldest, next, bytes = 1, 1, 0
if head then
    oldest, next, bytes = string.match(head, '(%d+) (%d+) (%d+)')
    oldest, next, bytes = tonumber(oldest), tonumber(next), tonumber(bytes)
end
local step = ARGV[9]
if step == 'continue' or step == 'end' then
    local mark = redis.call('GET', KEYS[2])
    if not mark or string.sub(mark, 9) ~= ARGV[10] then
        return -1
    end
end
local above, is_item = tonumber(ARGV[4]), ARGV[12] == '1'
local is_behind = next <= above
if is_behind then
    redis.call('DEL', log)
    next = above + 1
    oldest, bytes = next, 0
end
if is_item then
    next = next + 1
    bytes = bytes + #ARGV[2] + 64
end
local position = next - 1
if expiry > 0 and is_item then
    redis.call('HSET', log, position, ARGV[1] .. ARGV[2])
    while (bytes > tonumber(ARGV[5]) or next - oldest > tonumber(ARGV[6])) and oldest < position do
        bytes = bytes - redis.call('HSTRLEN', log, oldest) + 8 - 64
        redis.call('HDEL', log, oldest)
        oldest = oldest + 1
    end
end
if expiry > 0 then
    if is_item or is_behind then
        redis.call('HSET', log, 'h', string.format('%.0f %.0f %.0f', oldest, next, bytes))
    end
    redis.call('PEXPIRE', log, expiry)
else
    redis.call('DEL', log)
end
if step == 'end' or (step ~= '' and expiry <= 0) then
    redis.call('DEL', KEYS[2])
elseif step == 'begin' then
    redis.call('SET', KEYS[2], ARGV[11] .. ARGV[10], 'PX', expiry)
elseif step == 'continue' then
    redis.call('PEXPIRE', KEYS[2], expiry)
end
if ARGV[7] ~= '' then
    redis.call('SPUBLISH', ARGV[7], ARGV[8])
end
return position"
);

/// `KEYS`: the log. `ARGV`: a token, and the expiry that was set with it. Returns the position of the item
/// that has it. Like [`PUT`], it writes then.
pub(crate) static FIND: StoredScript = script!(
    "#!lua flags=allow-oom
local head = redis.call('HGET', KEYS[1], 'h')
if not head then
    return -2
end
local oldest, next = string.match(head, '(%d+) (%d+)')
for at = tonumber(next) - 1, tonumber(oldest), -1 do
    if string.sub(redis.call('HGET', KEYS[1], at) or '', 1, 8) == ARGV[1] then
        redis.call('PEXPIRE', KEYS[1], ARGV[2])
        return at
    end
end
return -2"
);

/// `KEYS`: the log. `ARGV`: the position before the first item, and the most items. Returns the oldest
/// position, the next one, the position of the first item, and the items.
pub(crate) static READ: StoredScript = script!(
    "#!lua flags=no-writes
local head = redis.call('HGET', KEYS[1], 'h')
if not head then
    return {1, 1, 1}
end
local oldest, next = string.match(head, '(%d+) (%d+)')
oldest, next = tonumber(oldest), tonumber(next)
local first = math.max(tonumber(ARGV[1]) + 1, oldest)
local last = math.min(next - 1, first + tonumber(ARGV[2]) - 1)
local found = {oldest, next, first}
for at = first, last do
    found[#found + 1] = redis.call('HGET', KEYS[1], at)
end
return found"
);
