//! A server hands over to its successor: `hadal serve --take-over` on the same data folder.
//!
//! ```text
//! successor                                   server
//!   "hadal handover 2" ───────────────────────>
//!   <─────────────────────── the listening socket, which keeps new connections waiting
//!   opens all parts that may fail: the address, serves as before, also if the
//!   the token, definitions, the archive         successor sends nothing more
//!   "stop" ───────────────────────────────────> accepts no more connections
//!                                               finishes requests, seals, releases the folder
//!   <──────────────────────────────── "stopped"
//!   opens the folder, serves                    waits
//!   closes the socket ────────────────────────> ends
//! ```
//!
//! Meanwhile any other successor gets "taken" and ends: otherwise two successors could follow each
//! other unnoticed.
//!
//! A server that stops for another reason also says "stopped". It ends only once its successor
//! serves: unmapping gigabytes keeps a core busy that the successor can use.
//!
//! Both processes use a socket in the data folder, which only its owner can enter. The port is
//! never closed, so no client is refused: a client that connects while neither serves waits for the
//! successor.

use std::convert::Infallible;
use std::fs;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::{Shutdown, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hadal_types::limits::SERVER_STOP_SECONDS_MAX;
use parking_lot::Mutex;
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;

use crate::error::Error;
use crate::output;

/// The name of the socket in a data folder.
const SOCKET: &str = "handover";
/// A successor's first message. The number is the version of this protocol.
const REQUEST: &[u8] = b"hadal handover 2\n";
/// The message that carries the listening socket.
const LISTENER: &[u8] = b"listener\n";
/// A successor's message once it needs nothing but the folder.
const STOP: &[u8] = b"stop\n";
/// The server's message once the folder is free.
const STOPPED: &[u8] = b"stopped\n";
/// The server's message to any further successor.
const TAKEN: &[u8] = b"taken\n";
/// The interval at which a waiting successor reports that it waits.
const SAID_EVERY: Duration = Duration::from_secs(10);
/// The limit of a stop for a successor, whatever limit the server has otherwise: three minutes, as
/// in "Fast Database Restarts at Facebook" (SIGMOD 2014), section 4.3. After it the process ends as
/// it is.
const STOP_TIME_MAX: Duration = Duration::from_secs(SERVER_STOP_SECONDS_MAX);
/// The time that a successor waits. It is longer than the limit of a stop, since neither would
/// serve if the successor gave up first. A server that takes longer hangs, or is suspended, and
/// cannot even end.
const PATIENCE: Duration = Duration::from_secs(SERVER_STOP_SECONDS_MAX + 20);
/// The time limit for a successor's first message.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(1);
/// The number of attempts to reach the server, if each ends the connection instead of answering.
const ASKED_MAX: usize = 3;
/// The time that a stopped server waits for its successor to serve before it ends.
const START_TIME_MAX: Duration = Duration::from_secs(10);
/// The time that a successor has to get ready. After it another one may take over.
const READY_TIME_MAX: Duration = Duration::from_secs(60);

/// The server's end of the handover.
pub(crate) struct Door {
    listener: UnixListener,
    path: PathBuf,
    /// The connection to the successor that has the listening socket and gets ready.
    guest: Mutex<Option<OwnedFd>>,
}

impl Door {
    /// Opens the handover socket in a data folder whose leaves belong to this process. To be called
    /// within the runtime.
    pub(crate) fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(SOCKET);
        let failed = |error| Error::io("listen on", path.display())(error);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let listener = UnixListener::bind(&path).map_err(failed)?;
        Ok(Self { listener, path, guest: Mutex::default() })
    }

    /// Waits for a successor that is ready, and hands the listening socket over to it. The socket
    /// stays open here too, but this process must accept no more connections from it.
    pub(crate) async fn successor(&self, socket: &OwnedFd) -> Successor {
        loop {
            let Ok((mut stream, _)) = self.listener.accept().await else { continue };
            if !says(&mut stream, REQUEST, REQUEST_TIME_MAX).await {
                continue;
            }
            let Ok(kept) = stream.as_fd().try_clone_to_owned() else { continue };
            if let Err(error) = give(&stream, socket) {
                output::say(&format!("cannot hand over: {error}"));
                continue;
            }
            self.let_in(Some(kept));
            let is_ready = tokio::select! {
                // The successor comes first, so that no other one is refused for a successor that
                // has gone.
                biased;
                is_ready = says(&mut stream, STOP, READY_TIME_MAX) => is_ready,
                never = self.refuse_others() => match never {},
            };
            if is_ready {
                if let Some(successor) = self.guest() {
                    if let Err(error) = self.refuse_others_from_now_on() {
                        output::say(&format!("other successors are not notified: {error}"));
                    }
                    return successor;
                }
            } else {
                self.let_in(None);
                output::say("who was to take over did not get ready: this server goes on");
            }
        }
    }

    /// Answers every other successor that another one takes over.
    async fn refuse_others(&self) -> Infallible {
        loop {
            let Ok((mut stream, _)) = self.listener.accept().await else { continue };
            // One after the other: a client that sends nothing delays the others by a second.
            if says(&mut stream, REQUEST, REQUEST_TIME_MAX).await {
                let _ = stream.write_all(TAKEN).await;
            }
        }
    }

    /// Continues to refuse successors on a thread until the process ends, since the runtime ends
    /// before.
    fn refuse_others_from_now_on(&self) -> io::Result<()> {
        let door: OwnedFd = self.listener.as_fd().try_clone_to_owned()?;
        let door = std::os::unix::net::UnixListener::from(door);
        let refusing = move || {
            // This also makes the runtime's descriptor blocking, which accepts no successor any
            // more.
            if door.set_nonblocking(false).is_err() {
                return;
            }
            for mut stream in door.incoming().flatten() {
                let _ = stream.set_read_timeout(Some(REQUEST_TIME_MAX));
                let mut said = [0; REQUEST.len()];
                if stream.read_exact(&mut said).is_ok() && said == REQUEST {
                    let _ = stream.write_all(TAKEN);
                }
            }
        };
        std::thread::Builder::new().name("hadal-door".to_owned()).spawn(refusing).map(drop)
    }

    /// Whether a successor has the socket and gets ready.
    pub(crate) fn has_guest(&self) -> bool {
        self.guest.lock().is_some()
    }

    fn let_in(&self, guest: Option<OwnedFd>) {
        *self.guest.lock() = guest;
    }

    /// Takes the successor that has the socket and gets ready, if there is one. Whatever this
    /// server stops for, the folder is then free for it.
    pub(crate) fn guest(&self) -> Option<Successor> {
        let guest = self.guest.lock().take();
        let stream = UnixStream::from(guest?);
        stream.set_nonblocking(false).ok()?;
        Some(Successor(stream))
    }
}

/// The time limit of a stop: `stop_max`, or less if a successor waits for it.
pub(crate) fn stop_time(stop_max: Duration, is_waited_for: bool) -> Duration {
    if is_waited_for { stop_max.min(STOP_TIME_MAX) } else { stop_max }
}

/// Whether the next bytes from the stream are `expected`, within the time limit.
async fn says(stream: &mut tokio::net::UnixStream, expected: &[u8], within: Duration) -> bool {
    let mut said = vec![0; expected.len()];
    let read = tokio::time::timeout(within, stream.read_exact(&mut said)).await;
    matches!(read, Ok(Ok(_))) && said == expected
}

/// Hands the listening socket over.
fn give(stream: &tokio::net::UnixStream, listener: &OwnedFd) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let fds = [listener.as_fd()];
    if !ancillary.push(SendAncillaryMessage::ScmRights(&fds)) {
        return Err(io::Error::other("a socket does not fit into a message"));
    }
    let bytes = [IoSlice::new(LISTENER)];
    rustix::net::sendmsg(stream, &bytes, &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}

impl Drop for Door {
    fn drop(&mut self) {
        // A successor that finds a socket without a listener knows that no server runs.
        let _ = fs::remove_file(&self.path);
    }
}

/// The process that takes over from this one.
pub(crate) struct Successor(UnixStream);

impl Successor {
    /// Reports that the folder is free. Waits until the successor serves, has ended, or
    /// [`START_TIME_MAX`] has passed. A successor that misses the message sees this process end.
    pub(crate) fn tell_stopped(mut self) {
        // Some successors read until the end of the stream.
        let sent = self.0.write_all(STOPPED).and_then(|()| self.0.shutdown(Shutdown::Write));
        if sent.is_ok() && self.0.set_read_timeout(Some(START_TIME_MAX)).is_ok() {
            // The successor sends nothing more, or nothing of interest.
            let _ = self.0.read_to_end(&mut Vec::new());
        }
    }
}

/// The server before this one. It serves until it gets the stop message.
pub(crate) struct Predecessor {
    stream: UnixStream,
    /// The socket on which it listened.
    pub(crate) listener: TcpListener,
    patience: Duration,
}

impl Predecessor {
    /// Asks the server of a data folder for its socket. Returns `None` if no server runs. If this
    /// process sends nothing more, that server continues to serve.
    pub(crate) fn ask(folder: &Path) -> Result<Option<Self>, Error> {
        Self::ask_within(folder, PATIENCE)
    }

    /// The same with another time limit, for the answer and for the stop.
    fn ask_within(folder: &Path, patience: Duration) -> Result<Option<Self>, Error> {
        let path = folder.join(SOCKET);
        let mut asked = 0;
        loop {
            asked += 1;
            match Self::ask_once(&path, patience) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    return Err(Error::Server(format!(
                        "another process is taking over from the server of {} already; this one ends, and \
                         what serves goes on: start it again once that one serves",
                        folder.display()
                    )));
                }
                // The server was about to end, or has another successor: ask which one serves now.
                Err(error) if is_ended(&error) && asked < ASKED_MAX => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    let error = io::Error::other(
                        "it does not speak version 2 of the handover, and goes on: stop it first",
                    );
                    return Err(Error::io("take over from the server at", path.display())(error));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Err(given_up("answered", patience));
                }
                other => {
                    return other
                        .map_err(Error::io("take over from the server at", path.display()));
                }
            }
        }
    }

    fn ask_once(path: &Path, patience: Duration) -> io::Result<Option<Self>> {
        let mut stream = match UnixStream::connect(path) {
            Ok(stream) => stream,
            Err(error) => {
                return match error.kind() {
                    io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Ok(None),
                    _ => Err(error),
                };
            }
        };
        stream.write_all(REQUEST)?;
        await_word(&stream, "answers", patience)?;
        let listener = receive(&stream)?;
        Ok(Some(Self { stream, listener: TcpListener::from(listener), patience }))
    }

    /// Stops the server and waits until the folder is free. The server ends when the returned value
    /// is dropped.
    pub(crate) fn stop(mut self) -> Result<Stopped, Error> {
        let mut said = [0; STOPPED.len()];
        let sent = self.stream.write_all(STOP);
        let sent = sent.and_then(|()| await_word(&self.stream, "has stopped", self.patience));
        let read = sent.and_then(|()| self.stream.read_exact(&mut said));
        match read {
            Ok(()) => Ok(Stopped(self)),
            // A server that ended without a message, before or after the stop message, has left the
            // folder too, but not in order.
            Err(error) if is_ended(&error) => Ok(Stopped(self)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Err(given_up("stopped", self.patience))
            }
            Err(error) => Err(Error::io("wait for", "the server before this one")(error)),
        }
    }
}

/// Waits until the server before this one sends a message or ends. Reports the wait on standard
/// error, and at intervals how long it has lasted.
///
/// # Errors
/// [`io::ErrorKind::WouldBlock`] after `patience`.
fn await_word(stream: &UnixStream, until: &str, patience: Duration) -> io::Result<()> {
    let start = Instant::now();
    output::say(&format!(
        "waiting until the server before this one {until}, at most {} s",
        patience.as_secs()
    ));
    loop {
        let left = patience.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        stream.set_read_timeout(Some(left.min(SAID_EVERY)))?;
        let peeked = rustix::io::retry_on_intr(|| {
            rustix::net::recv(stream, &mut [0_u8; 1][..], RecvFlags::PEEK)
        });
        match peeked {
            Ok(_) => break,
            Err(Errno::WOULDBLOCK) if start.elapsed() < patience => output::say(&format!(
                "waiting until the server before this one {until}, for {} s already",
                start.elapsed().as_secs()
            )),
            Err(errno) => return Err(errno.into()),
        }
    }
    // The messages are short and arrive at once.
    stream.set_read_timeout(Some(REQUEST_TIME_MAX.max(patience.saturating_sub(start.elapsed()))))
}

/// The error that the server before this one has not `done` its part in time.
fn given_up(done: &str, patience: Duration) -> Error {
    Error::Usage(format!(
        "the server before this one has not {done} within {} s: stop it, with kill -9 if need be, and \
         start this one again; nothing that was acknowledged is lost",
        patience.as_secs()
    ))
}

/// The server before this one after its stop. It ends once this value is dropped.
pub(crate) struct Stopped(#[expect(dead_code, reason = "it is there to be dropped")] Predecessor);

/// Whether the error means that the other process has ended.
fn is_ended(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

/// Receives the listening socket.
fn receive(stream: &UnixStream) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut bytes = [0; LISTENER.len()];
    let mut slices = [IoSliceMut::new(&mut bytes)];
    let flags = RecvFlags::CMSG_CLOEXEC;
    let received = rustix::io::retry_on_intr(|| {
        rustix::net::recvmsg(stream, &mut slices, &mut ancillary, flags)
    })?;
    let fds = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => Some(fds),
        _ => None,
    });
    let listener = fds.flatten().next();
    if bytes.starts_with(TAKEN) {
        return Err(io::ErrorKind::ResourceBusy.into());
    }
    if received.bytes != LISTENER.len() || bytes != LISTENER {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    listener.ok_or_else(|| io::Error::other("it did not hand its socket over"))
}

#[cfg(test)]
mod tests;
