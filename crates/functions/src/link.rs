//! One worker process, and a conversation with it that ends in time.

use std::fmt::Debug;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::message::{Response, frame_head, message_length};
use crate::worker_error::WorkerError;

/// How often a waiting thread looks whether its query was cancelled.
const LOOK_MILLIS: u64 = 20;
/// The shortest timeout of a socket: zero would be none.
const TIMEOUT_MIN: Duration = Duration::from_micros(100);

/// Starts workers.
pub trait Launcher: Debug + Send + Sync {
    /// Starts a worker.
    ///
    /// # Errors
    /// When the system cannot start it.
    fn launch(&self) -> io::Result<Worker>;
}

/// A worker that was started.
#[derive(Debug)]
pub struct Worker {
    /// The conversation.
    pub socket: UnixStream,
    /// The process; `None` in tests, where the worker is a thread.
    pub process: Option<Child>,
}

/// Starts this program once more, with the command for workers.
#[derive(Debug)]
pub struct ProcessLauncher {
    program: std::path::PathBuf,
    arguments: Vec<String>,
}

impl ProcessLauncher {
    /// Starts `program` with `arguments`. The worker's end of the conversation is its standard
    /// input, for both directions.
    #[must_use]
    pub fn new(program: impl Into<std::path::PathBuf>, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Self { program: program.into(), arguments }
    }
}

impl Launcher for ProcessLauncher {
    fn launch(&self) -> io::Result<Worker> {
        let (ours, theirs) = UnixStream::pair()?;
        let process = Command::new(&self.program)
            .args(&self.arguments)
            // Without a zone's name, the C library opens no file for it.
            .env_clear()
            .env("TZ", "UTC0")
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Worker { socket: ours, process: Some(process) })
    }
}

/// A worker, and what it has loaded. Dropping it kills the process.
#[derive(Debug)]
pub(crate) struct Link {
    worker: Worker,
    /// The function that the worker has loaded last.
    pub(crate) loaded: Option<u64>,
}

/// When a conversation must end.
#[derive(Clone, Copy)]
pub(crate) struct Until<'c> {
    pub(crate) at: Instant,
    pub(crate) is_cancelled: &'c dyn Fn() -> bool,
}

impl Link {
    pub(crate) fn new(worker: Worker) -> Self {
        Self { worker, loaded: None }
    }

    /// Ends the conversation, as when the worker dies.
    #[cfg(test)]
    pub(crate) fn close(&self) {
        self.worker.socket.shutdown(std::net::Shutdown::Both).expect("a socket");
    }

    /// Whether the worker is there and has sent nothing, as one that waits for a message.
    pub(crate) fn is_waiting(&mut self) -> bool {
        let socket = &mut self.worker.socket;
        let is_silent = socket.set_nonblocking(true).is_ok()
            && socket.read(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
        is_silent && socket.set_nonblocking(false).is_ok()
    }

    /// Sends a message and returns the answer.
    pub(crate) fn ask(
        &mut self,
        message: &[u8],
        until: &Until<'_>,
    ) -> Result<Response, WorkerError> {
        let head = frame_head(message).ok_or(WorkerError::TooLarge)?;
        self.write(&head, until)?;
        self.write(message, until)?;
        self.read_message(until)
    }

    /// Waits for a message.
    pub(crate) fn read_message(&mut self, until: &Until<'_>) -> Result<Response, WorkerError> {
        let mut head = [0; 4];
        self.read(&mut head, until)?;
        let length = message_length(head).ok_or(WorkerError::TooLarge)?;
        let mut message = vec![0; length];
        self.read(&mut message, until)?;
        Ok(Response::decode(&message)?)
    }

    fn write(&mut self, mut bytes: &[u8], until: &Until<'_>) -> Result<(), WorkerError> {
        while !bytes.is_empty() {
            self.worker.socket.set_write_timeout(Some(until.next()?)).map_err(WorkerError::Lost)?;
            match self.worker.socket.write(bytes) {
                Ok(0) => return Err(WorkerError::Lost(ErrorKind::WriteZero.into())),
                Ok(written) => bytes = &bytes[written..],
                Err(error) if is_early(&error) => {}
                Err(error) => return Err(WorkerError::Lost(error)),
            }
        }
        Ok(())
    }

    fn read(&mut self, mut bytes: &mut [u8], until: &Until<'_>) -> Result<(), WorkerError> {
        while !bytes.is_empty() {
            self.worker.socket.set_read_timeout(Some(until.next()?)).map_err(WorkerError::Lost)?;
            match self.worker.socket.read(bytes) {
                Ok(0) => return Err(WorkerError::Lost(ErrorKind::UnexpectedEof.into())),
                Ok(read) => bytes = &mut bytes[read..],
                Err(error) if is_early(&error) => {}
                Err(error) => return Err(WorkerError::Lost(error)),
            }
        }
        Ok(())
    }
}

impl Until<'_> {
    /// How long to wait before the next look at the clock.
    fn next(&self) -> Result<Duration, WorkerError> {
        let left = self.at.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(WorkerError::Late);
        }
        if (self.is_cancelled)() {
            return Err(WorkerError::Cancelled);
        }
        Ok(left.clamp(TIMEOUT_MIN, Duration::from_millis(LOOK_MILLIS)))
    }
}

fn is_early(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(process) = &mut self.worker.process {
            // It may have ended by itself. A killed process is reaped without a wait worth naming.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}
