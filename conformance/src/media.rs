//! The smallest image and the shortest sound.

use bowline::Content;

/// One red pixel.
pub(crate) const PIXEL: &[u8] = include_bytes!("../media/pixel.png");

/// A millisecond of silence.
const SILENCE: &[u8] = include_bytes!("../media/silence.wav");

/// An image.
pub(crate) fn image() -> Content {
    Content::image(PIXEL, "image/png")
}

/// A sound.
pub(crate) fn audio() -> Content {
    Content::audio(SILENCE, "audio/wav")
}
