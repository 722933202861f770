//! `bowline login`: logs in at a server, for all commands and all instances.

use std::io::BufRead as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bowline::auth::{Browser, BrowserUrl, LoginStatus, Scopes, ServerLogin};
use bowline_auth::client::open::open_in_browser;
use bowline_gateway::config::Launch;

use super::status::{LoginReport, lifetime};
use crate::client::client;
use crate::exit::{Exit, Failure};
use crate::interrupt::interruptible;
use crate::logins::known::{self, KnownServer, LoginMethod, RegisteredClient};
use crate::logins::store::TokenPlace;
use crate::logins::{self, Credential, LoginMode};
use crate::print::{self, TerminalText, json, line, lines, text};
use crate::target::{Target, TargetArgs};

/// Logs in at a server, once for all commands, hosts and instances
///
/// Opens the page of the server's authorization server in your browser. The tokens are kept in
/// files that only you can read. Every other command uses and renews them, and never opens a page by
/// itself.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "bowline login [OPTIONS] TARGET")]
pub(crate) struct Args {
    /// The server: a URL, or a name
    #[arg(value_name = "TARGET", required = true)]
    words: Vec<String>,
    /// Asks for this scope too; can be repeated
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// Prints the address of the page; the browser is still redirected to this machine
    #[arg(long)]
    no_browser: bool,
    /// Prints the address of the page, and reads the one that the browser is redirected to: for SSH
    #[arg(long, conflicts_with = "no_browser")]
    paste: bool,
    /// Uses a client that you registered at the authorization server
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// The file with the secret of that client; it is read whenever the secret is needed
    #[arg(long, value_name = "FILE", requires = "client_id")]
    client_secret_file: Option<PathBuf>,
    /// The authorization server of that client; the first one that the server names unless given
    #[arg(long, value_name = "URL", requires = "client_id")]
    issuer: Option<String>,
    /// Logs in as that client itself, without a user (client credentials)
    #[arg(long, requires = "client_secret_file", conflicts_with_all = ["no_browser", "paste"])]
    machine: bool,
    /// Sends the token of this file, which another program renews, instead of logging in
    #[arg(long, value_name = "FILE", conflicts_with_all = ["client_id", "scopes"])]
    token_file: Option<PathBuf>,
    /// Keeps the tokens in the keyring of the system, not in files (cargo feature `keyring`)
    #[arg(long, conflicts_with = "token_file")]
    keyring: bool,
    /// The port of this machine to which the browser is redirected
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Allows an authorization server in this network, such as 10.0.0.0/8; can be repeated
    #[arg(long = "network", value_name = "CIDR")]
    networks: Vec<String>,
    /// Prints the login as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: TargetArgs,
}

const EXAMPLES: &str = "\
Examples:
  bowline login https://mcp.example.com/mcp
  bowline login https://mcp.example.com/mcp --scope files:write
  bowline login --paste https://mcp.example.com/mcp          over SSH
  bowline login --machine --client-id ci --client-secret-file ci.txt URL
";

impl Args {
    pub(crate) async fn run(mut self) -> Result<Exit, Failure> {
        let target = self.server.take(&mut self.words)?;
        if let Some(word) = self.words.first() {
            return Err(Failure::usage(text!("unexpected argument `{word}`: give one server")));
        }
        let url = login_url(&target)?;
        let server = self.known(&url)?;
        match interruptible(self.log_in(target, server)).await? {
            Some((server, status)) => self.report(&server, status.as_ref()),
            None => print::note(text!("{url} demands no login")),
        }
        Ok(Exit::Done)
    }

    /// The server's entry, as the options describe it. Without any, an older entry counts.
    fn known(&self, url: &str) -> Result<KnownServer, Failure> {
        let absolute = |path: &PathBuf| {
            let failed = |error| Failure::usage(text!("{}: {error}", path.display()));
            std::path::absolute(path).map_err(failed)
        };
        let old = known::find(url)?;
        let mut server = KnownServer::new(url);
        server.networks.clone_from(&self.networks);
        server.tokens = match (self.keyring, &old) {
            (true, _) => TokenPlace::Keyring,
            (false, Some(old)) if self.token_file.is_none() => old.tokens,
            (false, _) => TokenPlace::Files,
        };
        if let Some(path) = &self.token_file {
            server.method = LoginMethod::TokenFile { path: absolute(path)? };
        } else if let Some(id) = &self.client_id {
            let secret_file = self.client_secret_file.as_ref().map(absolute).transpose()?;
            let client =
                RegisteredClient { id: id.clone(), issuer: self.issuer.clone(), secret_file };
            server.method = match self.machine {
                true => LoginMethod::Machine { client },
                false => LoginMethod::Browser { client: Some(client), port: self.port },
            };
        } else if let Some(port) = self.port {
            server.method = LoginMethod::Browser { client: None, port: Some(port) };
        } else if let Some(old) =
            old.filter(|it| !matches!(it.method, LoginMethod::TokenFile { .. }))
        {
            server.method = old.method;
            if self.networks.is_empty() {
                server.networks = old.networks;
            }
        }
        Ok(server)
    }

    /// Connects, which logs in if the server demands it. `None` if it does not.
    async fn log_in(
        &self,
        target: Target,
        server: KnownServer,
    ) -> Result<Option<(KnownServer, Option<LoginStatus>)>, Failure> {
        let wanted = self.wanted()?;
        let has_shown = Arc::new(AtomicBool::new(false));
        let page = self.page(has_shown.clone());
        let credential = logins::credential(&server, LoginMode::Interactive(page, wanted.clone()))?;
        let connected = target.connect_with(client(), Some(credential.for_client())).await?;
        let Credential::Login(login) = credential else {
            connected.close().await;
            remember(&server).await?;
            return Ok(Some((server, None)));
        };
        let outcome = complete(&login, &wanted, &has_shown).await;
        connected.close().await;
        let Some(status) = outcome? else { return Ok(None) };
        remember(&server).await?;
        Ok(Some((server, Some(status))))
    }

    fn wanted(&self) -> Result<Scopes, Failure> {
        Scopes::parse(&self.scopes.join(" ")).map_err(|error| Failure::usage(line(error)))
    }

    /// How the user gets to the page.
    fn page(&self, has_shown: Arc<AtomicBool>) -> Box<dyn FnOnce(Browser) -> Browser + Send> {
        if self.paste {
            return Box::new(move |browser| {
                browser.paste(move |page| {
                    has_shown.store(true, Ordering::SeqCst);
                    ask(page)
                })
            });
        }
        let opens = !self.no_browser;
        Box::new(move |browser| {
            browser.open_with(move |page: BrowserUrl| {
                has_shown.store(true, Ordering::SeqCst);
                let page_shown =
                    TerminalText::from("To log in, open this page:\n\n  ") + line(&page);
                print::note(page_shown + "\n");
                if opens {
                    // If no browser appears, the user opens the printed page.
                    let _ = open_in_browser(&page);
                }
                async { Ok::<(), std::convert::Infallible>(()) }
            })
        })
    }

    fn report(&self, server: &KnownServer, status: Option<&LoginStatus>) {
        if self.json {
            return json::print(&LoginReport::new(server, status));
        }
        match status {
            None => print::text(text!("the token of the file is used for {}", server.url)),
            Some(status) => {
                let scopes = match status.scopes.is_empty() {
                    true => String::new(),
                    false => format!(", scopes {}", status.scopes),
                };
                print::text(text!(
                    "logged in at {} for {}{scopes}; expires {}",
                    status.issuer,
                    server.url,
                    lifetime(status)
                ));
            }
        }
    }
}

/// The URL of a target that one can log in at.
///
/// # Errors
///
/// If the server is a command, or has a credential of its own.
pub(crate) fn login_url(target: &Target) -> Result<String, Failure> {
    if let Launch::Command(_) = target.launch {
        return Err(Failure::usage(text!("`{}` is a command, which needs no login", target.label))
            .hint("logins are for servers at a URL"));
    }
    let url = target.launch.login_url().map(str::to_owned);
    let text = "a header `Authorization` is set, so no login would be used";
    url.ok_or_else(|| Failure::usage(text))
}

/// Makes sure that there is a login with the wanted scopes, after the server has accepted a
/// connection. `None` if it needs no login.
async fn complete(
    login: &ServerLogin,
    wanted: &Scopes,
    has_shown: &AtomicBool,
) -> Result<Option<LoginStatus>, Failure> {
    let denied = |error: &bowline::auth::Error| {
        Failure::new(Exit::Unauthorized, lines(bowline_types::text::with_causes(error)))
    };
    let first = logins::status(login).await?;
    let is_missing = |status: &LoginStatus| !wanted.is_within(&status.scopes);
    match &first {
        // The server accepts requests without a login, but calls of some tools may need one.
        None => match login.log_in().await {
            Err(error) if error.is_metadata() && wanted.is_empty() => return Ok(None),
            outcome => outcome.map_err(|error| denied(&error))?,
        },
        Some(status) if is_missing(status) && !has_shown.load(Ordering::SeqCst) => {
            login.log_in().await.map_err(|error| denied(&error))?;
        }
        Some(_) => return Ok(first),
    }
    let second = logins::status(login).await?;
    if let Some(status) = second.as_ref().filter(|status| is_missing(status)) {
        let text = text!(
            "{} granted the scopes `{}`, not all of `{wanted}`",
            status.issuer,
            status.scopes
        );
        return Err(Failure::new(Exit::Unauthorized, text));
    }
    Ok(second)
}

/// Adds the server to the list. If it was there with other tokens, that login ends.
async fn remember(server: &KnownServer) -> Result<(), Failure> {
    let Some(old) = known::remember(server.clone())? else { return Ok(()) };
    if !old.has_tokens_of(server)
        && let Ok(Credential::Login(login)) = logins::credential(&old, LoginMode::LogOut)
    {
        // The new login stands, whatever becomes of the old one.
        let _ = login.log_out().await;
    }
    Ok(())
}

/// Shows the page, and reads the address of the last one.
async fn ask(page: BrowserUrl) -> Option<String> {
    print::note("Open this page, log in, and paste the address that the browser ends at:");
    print::note(TerminalText::from("\n  ") + line(page) + "\n");
    let line = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).ok().filter(|read| *read > 0).map(|_| line)
    });
    line.await.ok().flatten()
}
