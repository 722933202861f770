//! Server processes that are killed while they run tasks, which are in a file or in Redis.
#![cfg(unix)]

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::redis_server::RedisServer;
use crate::restart::Durable;
use crate::test_server::{Session, request};
use crate::wire::{Request, Wire};

const KILLS: usize = 50;

/// How long it may take until tasks of killed processes have ended: their leases last ten seconds.
const ENDS: Duration = Duration::from_secs(30);

/// A task that the client knows of.
struct Known {
    id: String,
    tool: &'static str,
    key: String,
    is_completed: bool,
}

struct Client {
    server: Durable,
    session: Session,
    known: Vec<Known>,
}

impl Client {
    fn creation(&self, tool: &str, key: &str) -> Request {
        // The process that gets this must not end a `repeat`.
        let after = self.server.process.id();
        let arguments = match tool {
            "repeat" => json!({ "key": key, "after": after }),
            _ => json!({ "key": key }),
        };
        let params = json!({ "name": tool, "arguments": arguments, "task": {} });
        self.session.post(request(1, "tools/call", params))
    }

    async fn create(&mut self, tool: &'static str, key: String) {
        let answer = self.server.ask(&self.creation(tool, &key)).await.json();
        let id = answer["result"]["task"]["taskId"].as_str();
        let id = id.unwrap_or_else(|| panic!("no task: {answer}")).to_owned();
        self.known.push(Known { id, tool, key, is_completed: false });
    }

    async fn ask(&self, method: &str, id: &str) -> Value {
        let body = request(2, method, json!({ "taskId": id }));
        self.server.ask(&self.session.post(body)).await.json()
    }

    async fn get(&self, id: &str) -> Value {
        let mut answer = self.ask("tasks/get", id).await;
        assert!(answer["result"].is_object(), "a task was lost: {answer}");
        answer["result"].take()
    }

    /// Waits until a task has ended.
    async fn ended(&self, id: &str, deadline: Instant) -> Value {
        loop {
            let task = self.get(id).await;
            if task["status"] != "working" {
                return task;
            }
            assert!(Instant::now() < deadline, "the task does not end: {task}");
        }
    }

    /// How often each call ran.
    fn runs(&self) -> HashMap<String, usize> {
        let text = std::fs::read_to_string(self.server.folder.path().join("mcp.db.runs")).unwrap();
        let mut runs = HashMap::new();
        for key in text.lines() {
            *runs.entry(key.to_owned()).or_default() += 1;
        }
        runs
    }

    /// Creates tasks, waits for some of them, and kills the process while it creates more.
    async fn live_and_die(&mut self, round: usize) {
        let deadline = Instant::now() + ENDS;
        self.create("quick", format!("seen{round}")).await;
        self.create("quick", format!("unseen{round}")).await;
        self.create("hang", format!("hang{round}")).await;
        if round.is_multiple_of(10) {
            self.create("repeat", format!("repeat{round}")).await;
        }
        let seen = self.known.iter().position(|it| it.key == format!("seen{round}")).unwrap();
        assert_eq!(self.ended(&self.known[seen].id, deadline).await["status"], "completed");
        self.known[seen].is_completed = true;
        let mut lost = Vec::new();
        for burst in 0..3 {
            let request = self.creation("quick", &format!("burst{round}.{burst}"));
            lost.push(Wire::send(self.server.address, &request).await);
        }
        self.server.kill_and_restart().await;
    }

    /// Checks what has become of a task.
    async fn check(&self, task: &Known, runs: usize, deadline: Instant) {
        let Known { id, tool, key, is_completed } = task;
        let ended = self.ended(id, deadline).await;
        let (status, message) = (&ended["status"], &ended["statusMessage"]);
        let stopped = "the server's process stopped while the task ran";
        let has_failed = status == "failed" && message == stopped;
        match *tool {
            "hang" => assert!(has_failed && runs <= 1, "{key} ran {runs} times: {ended}"),
            "repeat" => {
                let has_completed = status == "completed" && runs >= 2;
                assert!(runs <= 3 && (has_completed || has_failed), "{key}, {runs}: {ended}");
            }
            _ => {
                assert!(runs <= 1, "{key} ran {runs} times");
                assert!(status == "completed" || (has_failed && !is_completed), "{key}: {ended}");
            }
        }
        if status == "completed" {
            let result = self.ask("tasks/result", id).await;
            assert_eq!(result["result"]["content"][0]["text"], *key, "{result}");
        }
    }
}

#[tokio::test]
async fn no_outcome_is_lost_and_no_call_runs_twice_when_a_server_is_killed_fifty_times() {
    let server = Durable::start().await;
    let session = server.session().await;
    let mut client = Client { server, session, known: Vec::new() };
    for round in 0..KILLS {
        client.live_and_die(round).await;
    }
    let deadline = Instant::now() + ENDS;
    for task in &client.known {
        client.ended(&task.id, deadline).await;
    }
    let runs = client.runs();
    for task in &client.known {
        client.check(task, runs.get(&task.key).copied().unwrap_or_default(), deadline).await;
    }
    // Calls whose answers the client never saw.
    let twice = runs.iter().find(|(key, count)| key.starts_with("burst") && **count > 1);
    assert_eq!(twice, None);
    let completed = client.known.iter().filter(|task| task.is_completed).count();
    assert_eq!(completed, KILLS);
}

#[tokio::test]
async fn tasks_of_a_killed_process_end_in_another_one_within_fifteen_seconds() {
    let redis = RedisServer::start();
    let mut killed = Durable::start_on(&redis.url()).await;
    let server = Durable::start_on(&redis.url()).await;
    let session = killed.session().await;
    let mut client = Client { server: killed, session, known: Vec::new() };
    client.create("repeat", "repeat".to_owned()).await;
    client.create("hang", "hang".to_owned()).await;
    killed = std::mem::replace(&mut client.server, server);
    killed.process.kill().await.unwrap();
    let deadline = Instant::now() + Duration::from_secs(15);
    let [repeat, hang] = &client.known[..] else { panic!("two tasks") };
    assert_eq!(client.ended(&repeat.id, deadline).await["status"], "completed");
    let hang = client.ended(&hang.id, deadline).await;
    assert_eq!(hang["statusMessage"], "the server's process stopped while the task ran");
    let result = client.ask("tasks/result", &repeat.id).await;
    assert_eq!(result["result"]["content"][0]["text"], "repeat", "{result}");
}
