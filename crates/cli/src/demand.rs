//! What servers demanded of the logins that this process used, and what the user can do about it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bowline::auth::ServerLogin;

use crate::print::{self, TerminalText, text};

/// The logins of this process that were used, by how the user named their servers.
static USED: Mutex<Vec<(String, ServerLogin)>> = Mutex::new(Vec::new());

fn used() -> MutexGuard<'static, Vec<(String, ServerLogin)>> {
    USED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes that a server gets this login. A bridge connects again and again: of each server the last
/// login counts.
pub(crate) fn note_use(label: &str, login: &ServerLogin) {
    let mut used = used();
    used.retain(|(name, _)| name != label);
    used.push((label.to_owned(), login.clone()));
}

/// Why the list of logins cannot be read, if it cannot.
static UNREADABLE: Mutex<Option<TerminalText>> = Mutex::new(None);

/// Notes that the list of logins cannot be read. The user reads it once.
pub(crate) fn note_unreadable(reason: TerminalText) {
    let mut unreadable = UNREADABLE.lock().unwrap_or_else(PoisonError::into_inner);
    if unreadable.is_none() {
        print::note(TerminalText::from("note: ") + &reason);
        *unreadable = Some(reason);
    }
}

/// Whether this process sent a stored credential to a server.
pub(crate) async fn is_used_for(label: &str) -> bool {
    let found = used().iter().rev().find(|(name, _)| name == label).map(|(_, it)| it.clone());
    match found {
        Some(login) => login.status().await.is_ok_and(|status| status.is_some()),
        None => false,
    }
}

/// What the user can do after a server has refused a request of this process for want of a login or
/// of scopes, if it has. If logins could not be read, why.
pub(crate) fn advice() -> Option<TerminalText> {
    let used = used();
    let demanded = used.iter().rev().find_map(|(label, login)| Some((label, login.demand()?)));
    let Some((label, demand)) = demanded else {
        return UNREADABLE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    };
    let scopes = match demand.is_step_up && !demand.scopes.is_empty() {
        true => format!(" --scope {}", quoted(&demand.scopes.to_string())),
        false => String::new(),
    };
    Some(text!("bowline login {}{scopes}", quoted(label)))
}

/// Whether a server has refused a request of this process because its login lacks scopes.
pub(crate) fn lacks_scopes() -> bool {
    let used = used();
    used.iter().any(|(_, login)| login.demand().is_some_and(|demand| demand.is_step_up))
}

/// A word of a command line.
pub(crate) fn quoted(word: &str) -> String {
    shell_words::quote(word).into_owned()
}

#[cfg(test)]
mod tests {
    use bowline::auth::Browser;

    use super::*;

    #[tokio::test]
    async fn of_each_server_one_login_is_kept() {
        for label in ["demand-a", "demand-b", "demand-a"] {
            let plan = Browser::new("test").stored_only("");
            let login = ServerLogin::new(plan, "https://a.example/mcp", &[]).unwrap();
            note_use(label, &login);
        }
        let used = used();
        let labels = used.iter().map(|(label, _)| label.as_str());
        let labels: Vec<&str> = labels.filter(|it| it.starts_with("demand-")).collect();
        assert_eq!(labels, ["demand-b", "demand-a"]);
    }
}
