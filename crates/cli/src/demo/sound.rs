//! A short sound, computed.

/// Samples in a second.
const RATE: u32 = 8000;

/// Three tones that fade, as a WAV file of half a second with one byte for each sample.
pub(super) fn chime() -> Vec<u8> {
    let samples = RATE / 2;
    let mut file = header(samples);
    file.extend((0..samples).map(sample));
    file
}

fn sample(index: u32) -> u8 {
    let time = f64::from(index) / f64::from(RATE);
    let tones = [523.25, 659.25, 783.99];
    let sum: f64 = tones.iter().map(|tone| (time * tone * std::f64::consts::TAU).sin()).sum();
    let loudness = (1.0 - time * 2.0) * 40.0;
    // Within 8 and 248, so the conversion loses nothing but the fraction.
    (128.0 + sum * loudness) as u8
}

fn header(samples: u32) -> Vec<u8> {
    let mut header = Vec::new();
    header.extend(b"RIFF");
    header.extend((36 + samples).to_le_bytes());
    header.extend(b"WAVEfmt ");
    header.extend(16_u32.to_le_bytes());
    // PCM, one channel.
    header.extend([1, 0, 1, 0]);
    header.extend(RATE.to_le_bytes());
    header.extend(RATE.to_le_bytes());
    // One byte for each sample.
    header.extend([1, 0, 8, 0]);
    header.extend(b"data");
    header.extend(samples.to_le_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lengths_in_the_file_are_true() {
        let file = chime();
        assert_eq!(file.len(), 44 + 4000);
        assert_eq!(file[4..8], 4036_u32.to_le_bytes());
        assert_eq!(file[40..44], 4000_u32.to_le_bytes());
        assert_eq!(file[44], 128);
    }
}
