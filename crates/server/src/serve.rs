//! Serves over a transport, in one line.

use std::fmt;
use std::future::{Future, pending};
use std::sync::Arc;

use bowline_transport::stdio::Stdio;
use bowline_transport::transport::Transport;

use crate::error::Result;
use crate::server::{BuildError, Server};

impl Server {
    /// Serves one client over a transport until it goes away. Call it again for the next client:
    /// any number can be served at the same time.
    ///
    /// # Errors
    ///
    /// If the server cannot be built, or the transport breaks.
    pub fn serve<T: Transport>(
        &self,
        transport: T,
    ) -> impl Future<Output = Result<(), ServeError>> + Send + use<T> {
        self.serve_until(transport, pending())
    }

    /// Serves one client over a transport until it goes away or `stop` says so. Calls that run then
    /// have a moment to end.
    ///
    /// # Errors
    ///
    /// If the server cannot be built, or the transport breaks.
    pub fn serve_until<T, S>(
        &self,
        transport: T,
        stop: S,
    ) -> impl Future<Output = Result<(), ServeError>> + Send + use<T, S>
    where
        T: Transport,
        S: Future<Output = ()> + Send,
    {
        let service = self.build();
        let config = Arc::new(self.config());
        async move {
            let service = service.map_err(|error| ServeError(Kind::Build(error)))?;
            bowline_transport::serve::serve(transport, service, config, stop)
                .await
                .map_err(|error| ServeError(Kind::Transport(error)))
        }
    }

    /// Serves on standard input and output, as most servers are started, until the client closes
    /// its end. With `--http 127.0.0.1:3000` or `--http=127.0.0.1:3000` on the command line it serves
    /// over HTTP instead, until the process is told to stop (feature `http`). Other arguments are
    /// the program's own and are left alone; after `--` all are.
    ///
    /// # Errors
    ///
    /// If the server cannot be built, what it should serve on cannot be used, or `--http` is
    /// written so that it cannot be understood.
    pub async fn run(self) -> Result {
        // Built first, so that a mistake is told before anything is taken.
        self.build()?;
        let arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
        if let Some(address) = http_address(arguments)? {
            return self.run_http(&address).await;
        }
        Ok(self.serve(Stdio::take()?).await?)
    }

    #[cfg(feature = "http")]
    async fn run_http(self, address: &str) -> Result {
        let served = self.http().bind(address).await;
        served.map_err(|error| format!("cannot serve with `--http {address}`: {error}").into())
    }

    #[cfg(not(feature = "http"))]
    async fn run_http(self, _: &str) -> Result {
        Err("this program was built without HTTP: enable the feature `http` of `bowline`")?
    }
}

/// The address that `--http` names, if it is there.
///
/// # Errors
///
/// If there is no address, or two, or something else that was certainly meant to be `--http`.
fn http_address(arguments: impl Iterator<Item = String>) -> Result<Option<String>> {
    let mut named = None;
    let mut rest = arguments.skip(1).take_while(|argument| argument != "--");
    while let Some(argument) = rest.next() {
        let address = match argument.strip_prefix("--http") {
            Some("") => rest.next().filter(|next| !next.starts_with('-')).unwrap_or_default(),
            Some(joined) if joined.starts_with('=') => joined.trim_start_matches('=').to_owned(),
            _ if is_nearly_http(&argument) => {
                Err(format!("`{argument}` is no option; say `--http 127.0.0.1:3000`"))?
            }
            _ => continue,
        };
        if address.is_empty() {
            Err("`--http` needs an address, such as `--http 127.0.0.1:3000`")?;
        }
        if let Some(first) = &named {
            Err(format!("`--http` is given twice: {first} and {address}"))?;
        }
        named = Some(address);
    }
    Ok(named)
}

/// Whether an argument is `--http` but for its dashes, its capitals, or what follows it.
fn is_nearly_http(argument: &str) -> bool {
    let option = argument.trim_start_matches('-');
    let name = option.split(['=', ':']).next().unwrap_or_default();
    option.len() < argument.len() && name.eq_ignore_ascii_case("http")
}

/// Why a server does not serve.
#[derive(Debug)]
pub struct ServeError(Kind);

#[derive(Debug)]
enum Kind {
    Build(BuildError),
    Transport(bowline_transport::error::Error),
}

impl ServeError {
    /// Whether the server was wrong to begin with, and would fail again.
    pub fn is_build(&self) -> bool {
        matches!(self.0, Kind::Build(_))
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Build(_) => f.write_str("the server cannot be built"),
            Kind::Transport(_) => f.write_str("the connection broke"),
        }
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            Kind::Build(error) => Some(error),
            Kind::Transport(error) => Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(arguments: &[&str]) -> std::result::Result<Option<String>, String> {
        let arguments = std::iter::once("server").chain(arguments.iter().copied());
        http_address(arguments.map(str::to_owned)).map_err(|error| error.to_string())
    }

    #[test]
    fn the_address_follows_the_option_or_an_equals_sign() {
        let some = Ok(Some("127.0.0.1:3000".to_owned()));
        assert_eq!(address(&["--http", "127.0.0.1:3000"]), some);
        assert_eq!(address(&["--http=127.0.0.1:3000"]), some);
        assert_eq!(address(&["serve", "--verbose", "--http=127.0.0.1:3000", "--name", "x"]), some);
    }

    #[test]
    fn arguments_of_the_program_itself_are_left_alone() {
        for arguments in [&[][..], &["serve", "-v", "--name=x"], &["http", "--https"]] {
            assert_eq!(address(arguments), Ok(None), "{arguments:?}");
        }
        assert_eq!(address(&["--", "--http", "x"]), Ok(None));
    }

    #[test]
    fn an_option_that_was_meant_to_be_this_one_is_refused() {
        let needs = "`--http` needs an address, such as `--http 127.0.0.1:3000`";
        for arguments in [&["--http"][..], &["--http", ""], &["--http="], &["--http", "--verbose"]]
        {
            assert_eq!(address(arguments), Err(needs.to_owned()), "{arguments:?}");
        }
        for near in ["--http:127.0.0.1:3000", "-http", "--HTTP=127.0.0.1:3000"] {
            let error = address(&[near, "127.0.0.1:3000"]).unwrap_err();
            assert!(error.starts_with(&format!("`{near}` is no option; say `--http ")), "{error}");
        }
        let error = address(&["--http=a:1", "--http", "b:2"]).unwrap_err();
        assert_eq!(error, "`--http` is given twice: a:1 and b:2");
    }
}
