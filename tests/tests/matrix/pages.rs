//! Lists in pages, which the client joins.

use bowline::{Prompt, Resource, Server, Tool};
use bowline_testing::Harness;

fn alphabet() -> Server {
    let letters = ["a", "b", "c", "d", "e"];
    let uri = |letter: &str| format!("letters://{letter}");
    let template = |letter: &str| format!("{letter}://{{x}}");
    Server::new("alphabet", "1.0.0")
        .page_size(2)
        .tools(letters.map(|letter| Tool::new(letter, || async {})))
        .prompts(letters.map(|letter| Prompt::new(letter, || async { "" })))
        .resources(letters.map(|letter| Resource::new(uri(letter), || async { "" })))
        .resources(
            letters
                .map(|letter| Resource::template(template(letter), |x: String| async move { x })),
        )
}

// spec: PAGE-1, PAGE-4, PAGE-5, PAGE-10, PRMT-17
#[bowline::test(every_revision, stateless)]
async fn all_reads_every_page_of_a_list(t: Harness) {
    let client = t.connect(alphabet()).await;
    let tools = client.tools().all().await.unwrap().into_iter().map(|tool| tool.name);
    assert_eq!(tools.collect::<String>(), "abcde");
    let prompts = client.prompts().all().await.unwrap().into_iter().map(|prompt| prompt.name);
    assert_eq!(prompts.collect::<String>(), "abcde");
    assert_eq!(client.resources().all().await.unwrap().len(), 5);
    assert_eq!(client.resource_templates().all().await.unwrap().len(), 5);
}

#[bowline::test(every_revision, stateless)]
async fn a_client_can_read_a_list_item_by_item(t: Harness) {
    let client = t.connect(alphabet()).await;
    let mut tools = client.tools();
    let mut names = String::new();
    while let Some(tool) = tools.next().await {
        names.push_str(&tool.unwrap().name);
    }
    assert_eq!(names, "abcde");
}
