//! Several servers as one group, each under a name that the application chooses.

use bowline::client::{Client, Group};
use bowline::{Prompt, Resource, Server, Tool};
use bowline_testing::Harness;

fn server(name: &'static str) -> Server {
    Server::new(name, "1.0.0")
        .tool(Tool::new("status", move || async move { name }))
        .prompt(Prompt::new("plan", move || async move { name }))
        .resource(Resource::new("notes://today", move || async move { name }))
}

async fn group(t: &Harness) -> (Group, Client) {
    let (git, mail) = (t.connect(server("git")).await, t.connect(server("mail")).await);
    let group = Group::new().with("git", git).unwrap().with("mail", mail.clone()).unwrap();
    (group, mail)
}

// spec: TOOL-24, TOOL-25
#[bowline::test(every_revision, stateless)]
async fn a_group_sends_each_call_to_the_server_of_its_name(t: Harness) {
    let (group, _) = group(&t).await;
    assert_eq!(group.call("git__status", ()).await.unwrap().text(), "git");
    assert_eq!(group.call("mail__status", ()).await.unwrap().text(), "mail");
    assert_eq!(group.read("mail", "notes://today").await.unwrap().text(), "mail");
    let prompt = group.prompt("git__plan").await.unwrap();
    assert_eq!(prompt.messages[0].content.as_text(), Some("git"));
    assert!(group.call("status", ()).await.is_err());
}

#[bowline::test(every_revision, stateless)]
async fn a_group_lists_the_features_of_all_servers(t: Harness) {
    let (group, _) = group(&t).await;
    let tools = group.tools().await;
    let names: Vec<_> = tools.items.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["git__status", "mail__status"]);
    let resources = group.resources().await;
    let members: Vec<_> = resources.items.iter().map(|it| it.member.as_str()).collect();
    assert_eq!(members, ["git", "mail"]);
}

#[bowline::test(every_revision, stateless)]
async fn a_group_works_without_a_server_that_is_gone(t: Harness) {
    let (group, mail) = group(&t).await;
    mail.close().await;
    let tools = group.tools().await;
    assert_eq!(tools.items.len(), 1);
    let failed: Vec<_> = tools.failures.iter().map(|(member, _)| member.as_str()).collect();
    assert_eq!(failed, ["mail"]);
}
