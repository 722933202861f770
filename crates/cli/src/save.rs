//! Writes images, audio and other bytes of a result to files. Files that exist are never replaced.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use bowline_types::content::Content;
use bowline_types::json::Base64;
use bowline_types::resource::ResourceBody;

use crate::exit::{Exit, Failure};
use crate::print::{line, text};

/// Endings of files, by media type.
const ENDINGS: &[(&str, &str)] = &[
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("image/svg+xml", "svg"),
    ("audio/wav", "wav"),
    ("audio/x-wav", "wav"),
    ("audio/mpeg", "mp3"),
    ("audio/ogg", "ogg"),
    ("audio/flac", "flac"),
    ("application/pdf", "pdf"),
    ("application/json", "json"),
    ("application/zip", "zip"),
    ("text/plain", "txt"),
    ("text/html", "html"),
];

/// The bytes of a block and their media type; `None` if it has none.
pub(crate) fn bytes_of(content: &Content) -> Option<(&Base64, &str)> {
    match content {
        Content::Image(image) => Some((&image.data, &image.mime_type)),
        Content::Audio(audio) => Some((&audio.data, &audio.mime_type)),
        Content::Resource(resource) => match &resource.resource.body {
            ResourceBody::Blob(data) => {
                Some((data, resource.resource.mime_type.as_deref().unwrap_or_default()))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Writes bytes to a new file in a folder, which is made if it does not exist. The name is made of
/// the name of the tool and a number; nothing of it comes from the server.
///
/// # Errors
///
/// If the file exists, or cannot be written, or the bytes are not base64.
pub(crate) fn save(
    folder: &Path,
    (tool, number): (&str, usize),
    (data, media_type): (&Base64, &str),
) -> Result<PathBuf, Failure> {
    let bytes = data.decode().map_err(|error| Failure::new(Exit::Violation, line(error)))?;
    let path = folder.join(format!("{}-{number}.{}", plain(tool), ending(media_type)));
    let failed = |error: std::io::Error| {
        let failure =
            Failure::new(Exit::Refused, text!("cannot write {}: {error}", path.display()));
        match error.kind() {
            std::io::ErrorKind::AlreadyExists => failure.hint("`--save` takes another folder"),
            _ => failure,
        }
    };
    fs::create_dir_all(folder).map_err(failed)?;
    let mut file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(failed)?;
    file.write_all(&bytes).map_err(failed)?;
    Ok(path)
}

fn ending(media_type: &str) -> &'static str {
    let (plain, _) = media_type.split_once(';').unwrap_or((media_type, ""));
    ENDINGS.iter().find(|(name, _)| plain.trim() == *name).map_or("bin", |(_, ending)| ending)
}

/// A name that is no path.
fn plain(name: &str) -> String {
    let fine = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    name.chars().take(64).map(fine).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_never_leaves_the_folder_and_a_file_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let data = Base64::encode(b"x");
        let save = || save(folder.path(), ("../up", 1), (&data, "image/png; a=b"));
        assert_eq!(save().unwrap(), folder.path().join("___up-1.png"));
        assert!(save().unwrap_err().to_string().contains("exists"));
        assert_eq!(ending("application/x-unknown"), "bin");
    }
}
