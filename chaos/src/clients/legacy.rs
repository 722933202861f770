//! A client with a session, which answers questions and resumes a stream that ends without an answer.

use std::time::Duration;

use tokio::time::sleep;

use super::{ClientBase, HEAD, SILENCE, Step, messages, read_body, read_rest, read_stream, tasks};
use crate::ledger::{Call, End, Level, TaskEnd};
use crate::wire::{HttpRequest, HttpResponse};

/// How long a call may take in all.
const DEADLINE: Duration = Duration::from_secs(60);

/// The pause before another attempt.
const PAUSE: Duration = Duration::from_millis(200);

struct LegacySession {
    id: String,
    level: Option<Level>,
}

/// Opens a session and calls, until the run is over.
pub(super) async fn run(mut base: ClientBase) {
    let mut session = None;
    while !base.is_over() {
        base.think().await;
        let Some(current) = &mut session else {
            session = open(&base).await.map(|id| LegacySession { id, level: None });
            continue;
        };
        if current.level.is_none() || base.random.is_once_in(10) {
            set_level(&mut base, current).await;
        }
        if base.random.is_once_in(tasks::ONE_IN) {
            let task = tasks::run(&mut base, Some(&current.id)).await;
            if matches!(task.end, TaskEnd::SessionLost | TaskEnd::NotCreated(End::SessionLost)) {
                session = None;
            }
            base.setting.recorder.task(task);
            continue;
        }
        let call = make_call(&mut base, current).await;
        if call.end == End::SessionLost {
            session = None;
        }
        base.setting.recorder.call(call);
    }
}

/// Sends a request other than a call, and notes if it fails.
pub(super) async fn ask(
    base: &ClientBase,
    name: &'static str,
    session: Option<&str>,
    request: &HttpRequest,
) -> Option<HttpResponse> {
    match base.send(request, HEAD).await {
        Ok(response) => Some(response),
        Err(end) => {
            base.setting.recorder.refused(name, session, end);
            None
        }
    }
}

/// Opens a session, and returns its id.
pub(super) async fn open(base: &ClientBase) -> Option<String> {
    let response = ask(base, "initialize", None, &messages::initialize()).await?;
    let id = response.header("mcp-session-id")?.to_owned();
    base.setting.recorder.session(&id);
    ask(base, "initialized", Some(&id), &messages::initialized(&id)).await?;
    Some(id)
}

/// Turns log messages on or off. If the server does not acknowledge, the level is unknown.
async fn set_level(base: &mut ClientBase, session: &mut LegacySession) {
    let has_info = base.random.is_once_in(2);
    session.level = None;
    let level = if has_info { "info" } else { "error" };
    let request = messages::set_level(&session.id, level);
    if let Some(response) = ask(base, "set level", Some(&session.id), &request).await
        && response.body().await.is_ok_and(|body| body.contains("\"result\""))
    {
        session.level = Some(Level { has_info, since: base.now() });
    }
}

async fn make_call(base: &mut ClientBase, session: &LegacySession) -> Call {
    let mut call = base.new_call(Some(session.id.clone()));
    call.level = session.level;
    call.end = follow(base, &mut call, &session.id).await;
    if call.ended.is_zero() {
        call.ended = base.now();
    }
    if call.end == End::Answered && base.random.is_once_in(8) {
        replay(base, &mut call, &session.id).await;
    }
    call
}

/// Sends the call, and reads up to its end, over several streams if need be.
pub(super) async fn follow(base: &mut ClientBase, call: &mut Call, session: &str) -> End {
    let request = messages::legacy_call(call, session, base.setting.pause);
    let mut response = match base.send(&request, HEAD).await {
        Ok(response) if response.is_stream() => response,
        Ok(response) => match read_body(response, call).await {
            Step::Ended(end) => return end,
            // A question comes on a stream.
            Step::Asked(_) => return End::Cut,
        },
        Err(end) => return end,
    };
    let (mut position, mut last_answer) = (None, None);
    loop {
        match read_stream(&mut response, call, &mut position, SILENCE).await {
            Some(Step::Ended(end)) => {
                call.ended = base.now();
                read_rest(&mut response, call).await;
                return end;
            }
            Some(Step::Asked(question)) => {
                let Some(value) = base.choose(call, &question) else { continue };
                let request = messages::legacy_answer(session, &question, value);
                if let Err(end) = answer(base, call, session, &request).await {
                    return end;
                }
                last_answer = Some(request);
                continue;
            }
            None => {}
        }
        let Some(position) = &position else { return End::Cut };
        // The store may have lost an answer on its way to the replica that waits for it.
        if let Some(request) = &last_answer
            && let Err(end) = answer(base, call, session, request).await
        {
            return end;
        }
        response = match resume(base, call, session, position).await {
            Ok(response) => response,
            Err(end) => return end,
        };
    }
}

/// Sends an answer until a replica has taken it.
async fn answer(
    base: &ClientBase,
    call: &Call,
    session: &str,
    request: &HttpRequest,
) -> Result<(), End> {
    while base.now() < call.began + DEADLINE {
        match base.send(request, SILENCE).await {
            Ok(_) => return Ok(()),
            Err(End::SessionLost) => return Err(End::SessionLost),
            Err(end) => base.setting.recorder.refused("answer", Some(session), end),
        }
        sleep(PAUSE).await;
    }
    Err(End::Overdue)
}

/// Asks for the rest of a stream until a replica has it.
async fn resume(
    base: &ClientBase,
    call: &mut Call,
    session: &str,
    position: &str,
) -> Result<HttpResponse, End> {
    call.resumed += 1;
    let request = messages::resume(session, position);
    while base.now() < call.began + DEADLINE {
        sleep(PAUSE).await;
        match base.send(&request, SILENCE).await {
            Ok(response) => return Ok(response),
            Err(End::Status(400)) => return Err(End::Gap),
            Err(End::SessionLost) => return Err(End::SessionLost),
            Err(end) => base.setting.recorder.refused("resume", Some(session), end),
        }
    }
    Err(End::Overdue)
}

/// Reads the stream of an answered call again, from somewhere on: every event must be the same.
async fn replay(base: &mut ClientBase, call: &mut Call, session: &str) {
    let ids: Vec<_> = call.seen.iter().filter_map(|seen| seen.id.clone()).collect();
    // After the last event there is nothing to read.
    let Some(most) = ids.len().checked_sub(2) else { return };
    let after = &ids[base.random.between(0, most as u64) as usize];
    match base.send(&messages::resume(session, after), HEAD).await {
        Ok(mut response) => {
            let mut position = None;
            let read = &mut response;
            while let Some(Step::Asked(_)) = read_stream(read, call, &mut position, SILENCE).await {
            }
        }
        Err(End::Status(400)) => base.setting.recorder.refused("replay", Some(session), End::Gap),
        Err(end) => base.setting.recorder.refused("replay", Some(session), end),
    }
}
