//! A loop over lines: the answers to all complete lines in the buffer go out in one write.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;

use crate::message::{Answer, Server};

/// As much as a pipe holds.
const PIPE: usize = 64 * 1024;

/// Serves the standard streams, which must be pipes, until the input ends.
pub(crate) async fn serve(server: Server) -> io::Result<()> {
    // Opened anew, so that non-blocking mode does not affect other users of the streams.
    let input = pipe::OpenOptions::new().open_receiver("/proc/self/fd/0")?;
    let mut output = pipe::OpenOptions::new().open_sender("/proc/self/fd/1")?;
    let mut input = BufReader::with_capacity(PIPE, input);
    let mut line = Vec::new();
    let mut out = Vec::new();
    while input.read_until(b'\n', &mut line).await? > 0 {
        match server.answer(&line, &mut out)? {
            Answer::None => {}
            Answer::Written => out.push(b'\n'),
            Answer::Until(end) | Answer::OpensSession(end) => {
                out.extend_from_slice(&end);
                out.push(b'\n');
            }
        }
        line.clear();
        if out.len() >= PIPE || !input.buffer().contains(&b'\n') {
            output.write_all(&out).await?;
            out.clear();
        }
    }
    Ok(())
}
