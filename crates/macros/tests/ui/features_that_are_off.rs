use bowline::{Client, Server};

async fn serve(server: Server) {
    server.http().public_url("https://example.com/mcp").bind("127.0.0.1:3000").await;
    server.trace_layer();
}

fn main() {}
