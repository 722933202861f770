//! A client in its own process, in an environment that a test chooses.

use std::ffi::OsStr;

use tokio::process::Command;

use crate::test_server::within;

/// One revision of each era.
pub(crate) const ERAS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// A client process with only the given environment variables.
pub(crate) struct CallerProcess(Command);

impl CallerProcess {
    /// A client of the newest revision.
    pub(crate) fn of(url: &str) -> Self {
        Self::speaking(ERAS[1], url)
    }

    pub(crate) fn speaking(revision: &str, url: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_caller"));
        command.args([url, "advance", revision]).env_clear().kill_on_drop(true);
        Self(command)
    }

    pub(crate) fn with(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    /// Calls a tool, and expects its answer.
    pub(crate) async fn succeeds(self) {
        assert_eq!(self.call().await.as_deref(), Ok("arrived\n"));
    }

    /// Calls a tool, and expects that the connection fails; returns the error.
    pub(crate) async fn cannot_connect(self) -> String {
        let error = self.call().await.unwrap_err();
        assert!(error.contains("cannot connect: "), "{error}");
        error
    }

    async fn call(mut self) -> Result<String, String> {
        let output = within(self.0.output()).await.unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        match output.status.success() {
            true => Ok(text(output.stdout)),
            false => Err(text(output.stderr)),
        }
    }
}
