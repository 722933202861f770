//! Resources: listed, read as text and as bytes, filled into templates, not found.

use bowline_types::completion::Reference;
use bowline_types::template::Variables;
use serde_json::json;

use crate::connected_client::ConnectedClient;
use crate::peer::Feature;

pub(crate) async fn check(connected: &ConnectedClient) {
    listing(connected).await;
    reading(connected).await;
    templates(connected).await;
}

async fn listing(connected: &ConnectedClient) {
    let resources = connected.client.resources().all().await.unwrap();
    let find = |uri| resources.iter().find(|it| it.uri == uri).expect(uri);
    let motd = find("peer://motd");
    assert_eq!((motd.name.as_str(), motd.mime_type.as_deref()), ("motd", Some("text/plain")));
    if connected.revision.has_titles() {
        assert_eq!(motd.display_name(), "Message of the day");
    }
    assert_eq!(find("peer://logo").mime_type.as_deref(), Some("image/png"));
}

async fn reading(connected: &ConnectedClient) {
    let motd = connected.client.read("peer://motd").await.unwrap();
    let item = json!({ "uri": "peer://motd", "mimeType": "text/plain", "text": "Tie a bowline." });
    assert_eq!(serde_json::to_value(motd.iter().collect::<Vec<_>>()).unwrap(), json!([item]));
    let logo = connected.client.read("peer://logo").await.unwrap();
    assert_eq!(logo.to_bytes().unwrap(), [0, 1, 254, 255]);
    assert_eq!(logo.text(), "");
    let error = connected.client.read("peer://nowhere").await.unwrap_err();
    assert!(error.is_refused(), "{error}");
    assert_eq!(error.is_not_found(), connected.has(Feature::NotFound), "{error}");
}

async fn templates(connected: &ConnectedClient) {
    let templates = connected.client.resource_templates().all().await.unwrap();
    let [knots] = &templates[..] else { panic!("{templates:?}") };
    assert_eq!((knots.name.as_str(), knots.uri_template.as_str()), ("knot", "peer://knots/{name}"));
    let uri =
        knots.template().unwrap().expand(&Variables::new().with("name", "half hitch")).unwrap();
    let read = connected.client.read(uri).await.unwrap();
    let name = if connected.has(Feature::TemplateDecoding) { "half hitch" } else { "half%20hitch" };
    assert_eq!(read.text(), format!("How to tie a {name}."));
    let completed = connected.client.complete(Reference::resource("peer://knots/{name}"));
    let completed = completed.argument("name", "b").await.unwrap();
    assert_eq!(completed.values(), ["bowline", "butterfly"]);
}
