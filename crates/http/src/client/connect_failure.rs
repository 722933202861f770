//! Why no connection to a server could be opened, found among the causes of an error.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use bowline_proto::transmit::ConnectFailure;

use super::fetch::BoxError;

/// Why no connection could be opened, for an error of [`RawHttp`](super::RawHttp) or of an HTTP
/// client of the caller.
pub fn connect_failure(error: &(dyn StdError + 'static)) -> ConnectFailure {
    causes(error).find_map(known).unwrap_or(ConnectFailure::Other)
}

fn known(cause: &(dyn StdError + 'static)) -> Option<ConnectFailure> {
    if cause.is::<UnknownHost>() {
        return Some(ConnectFailure::UnknownHost);
    }
    if cause.is::<NoRoots>() {
        return Some(ConnectFailure::UntrustedCertificate);
    }
    // While a connection is opened, only TLS reads from it.
    let io = cause.downcast_ref::<io::Error>();
    if io.is_some_and(|io| io.kind() == io::ErrorKind::UnexpectedEof) {
        return Some(ConnectFailure::NoTls);
    }
    of_tls(cause)
}

#[cfg(feature = "tls")]
fn of_tls(cause: &(dyn StdError + 'static)) -> Option<ConnectFailure> {
    match cause.downcast_ref::<rustls::Error>()? {
        rustls::Error::InvalidMessage(_) => Some(ConnectFailure::NoTls),
        rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented => {
            Some(ConnectFailure::UntrustedCertificate)
        }
        _ => None,
    }
}

#[cfg(not(feature = "tls"))]
fn of_tls(_: &(dyn StdError + 'static)) -> Option<ConnectFailure> {
    None
}

/// An error and its causes.
fn causes<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error| cause(*error))
}

fn cause<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a (dyn StdError + 'static)> {
    match error.downcast_ref::<io::Error>() {
        // `source` leaves out the error that an I/O error wraps.
        Some(io) => io.get_ref().map(|wrapped| wrapped as &(dyn StdError + 'static)),
        None => error.source(),
    }
}

/// The system found no address of a host.
#[derive(Debug)]
pub(super) struct UnknownHost(pub(super) BoxError);

impl fmt::Display for UnknownHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for UnknownHost {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

/// The system has no certificates to trust; holds the text for the user.
#[derive(Clone, Debug)]
pub(super) struct NoRoots(pub(super) String);

impl fmt::Display for NoRoots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for NoRoots {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_found_below_other_errors() {
        let wrapped = |error: BoxError| io::Error::other(io::Error::other(error));
        let eof = io::Error::new(io::ErrorKind::UnexpectedEof, "tls handshake eof");
        for (error, expected) in [
            (wrapped(UnknownHost("no such host".into()).into()), ConnectFailure::UnknownHost),
            (wrapped(NoRoots(String::new()).into()), ConnectFailure::UntrustedCertificate),
            (wrapped(eof.into()), ConnectFailure::NoTls),
            (io::ErrorKind::ConnectionRefused.into(), ConnectFailure::Other),
        ] {
            assert_eq!(connect_failure(&error), expected, "{error}");
        }
    }

    #[cfg(feature = "tls")]
    #[test]
    fn errors_of_tls_are_told_apart() {
        use rustls::{CertificateError, Error, InvalidMessage};
        for (error, expected) in [
            (Error::InvalidMessage(InvalidMessage::InvalidContentType), ConnectFailure::NoTls),
            (
                Error::InvalidCertificate(CertificateError::UnknownIssuer),
                ConnectFailure::UntrustedCertificate,
            ),
            (Error::HandshakeNotComplete, ConnectFailure::Other),
        ] {
            assert_eq!(connect_failure(&io::Error::other(error)), expected);
        }
    }
}
