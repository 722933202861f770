//! What a gateway says about all its servers.

use bowline_server::{Claims, Server, Tool};

use super::*;
use crate::config::Dialect;

#[test]
fn a_gateway_needs_authorization_if_one_of_its_servers_does() {
    let file = ConfigFile::parse(r#"{ "mcpServers": {} }"#, "c.json", Dialect::Bowline).unwrap();
    let (variables, limits) = (ConfigVariables::none(), GatewayLimits::default());
    let gateway = Gateway::new(&file, variables, limits).unwrap();
    assert_eq!(gateway.needs_authorization(), None);
    let whoami = |caller: Claims| async move { caller.subject };
    let far = Server::new("far", "1.0.0").tool(Tool::new("whoami", whoami));
    let service = Server::new("all", "1.0.0").mount("far", far).build().unwrap();
    let loaded = LoadedServers { service, members: Vec::new(), notes: Vec::new() };
    *write(&gateway.0.loaded) = Arc::new(loaded);
    let why = gateway.needs_authorization().unwrap();
    assert!(why.contains("tool `whoami` takes `Claims`"), "{why}");
}
