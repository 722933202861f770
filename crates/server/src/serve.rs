//! Serves over a transport, in one line.

mod error;

use std::future::{Future, pending};
use std::sync::Arc;

use bowline_transport::stdio::Stdio;
use bowline_transport::transport::ServerTransport;

pub use self::error::ServeError;
use crate::server::Server;

impl Server {
    /// Serves one client over a transport until the client is gone. Call it again for the next
    /// client: a server serves any number at the same time.
    ///
    /// # Errors
    ///
    /// If the server cannot be built, or the transport breaks.
    pub fn serve<T: ServerTransport>(
        &self,
        transport: T,
    ) -> impl Future<Output = Result<(), ServeError>> + Send + use<T> {
        self.serve_until(transport, pending())
    }

    /// Serves one client over a transport until the client is gone or `stop` resolves. Calls that run
    /// then have [`Limits::drain`](crate::Limits::drain) to end.
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
        T: ServerTransport,
        S: Future<Output = ()> + Send,
    {
        let service = self.build();
        let config = Arc::new(self.config());
        async move {
            let service = service?;
            service.begin();
            bowline_transport::serve::serve(transport, service, config, stop)
                .await
                .map_err(ServeError::transport)
        }
    }

    /// Serves one client on standard input and output, which is how most applications start a
    /// server, until the client closes its end.
    ///
    /// With `--http 127.0.0.1:3000` or `--http=127.0.0.1:3000` on the command line it serves over
    /// HTTP instead (feature `http`), until the process is interrupted or terminated. Other
    /// arguments belong to the program and are ignored, and so is everything after `--`.
    ///
    /// # Errors
    ///
    /// If the server cannot be built, standard input and output or the address cannot be used, or
    /// `--http` has no address or is misspelt.
    pub async fn run(self) -> Result<(), ServeError> {
        // Built first, so that a mistake is reported before standard input is taken.
        self.build()?;
        let arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
        match http_address(arguments)? {
            Some(address) => self.run_http(&address).await,
            None => self.serve(Stdio::take().map_err(ServeError::stdio)?).await,
        }
    }

    #[cfg(feature = "http")]
    async fn run_http(self, address: &str) -> Result<(), ServeError> {
        self.http().bind(address).await.map_err(|error| error.of_option(address))
    }

    #[cfg(not(feature = "http"))]
    async fn run_http(self, _: &str) -> Result<(), ServeError> {
        let reason = "this program was built without HTTP: enable the feature `http` of `bowline`";
        Err(ServeError::option(reason))
    }
}

/// The address that `--http` names, if it is there.
///
/// # Errors
///
/// If there is no address, or two, or something else that was certainly meant to be `--http`.
fn http_address(arguments: impl Iterator<Item = String>) -> Result<Option<String>, ServeError> {
    let mut named = None;
    let mut rest = arguments.skip(1).take_while(|argument| argument != "--");
    while let Some(argument) = rest.next() {
        let address = match argument.strip_prefix("--http") {
            Some("") => rest.next().filter(|next| !next.starts_with('-')).unwrap_or_default(),
            Some(joined) if joined.starts_with('=') => joined.trim_start_matches('=').to_owned(),
            _ if is_nearly_http(&argument) => {
                let reason = format!("`{argument}` is no option; say `--http 127.0.0.1:3000`");
                return Err(ServeError::option(reason));
            }
            _ => continue,
        };
        if address.is_empty() {
            let reason = "`--http` needs an address, such as `--http 127.0.0.1:3000`";
            return Err(ServeError::option(reason));
        }
        if let Some(first) = &named {
            let reason = format!("`--http` is given twice: {first} and {address}");
            return Err(ServeError::option(reason));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn address(arguments: &[&str]) -> Result<Option<String>, String> {
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
