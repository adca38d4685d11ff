//! A server hands over to its successor: `hadal serve --take-over` on the same data folder.
//!
//! ```text
//! successor                                   server
//!   "hadal handover 2" ───────────────────────>
//!   <─────────────────────── the listening socket, which keeps whoever connects meanwhile
//!   opens what can be wrong: the address,       serves as before, also if no more is said
//!   the token, definitions, the archive
//!   "stop" ───────────────────────────────────> takes no more connections
//!                                               finishes what runs, seals, gives up the folder
//!   <──────────────────────────────── "stopped"
//!   opens the folder, serves                    waits
//!   closes the socket ────────────────────────> ends
//! ```
//!
//! Whoever else wants to take over meanwhile is told "taken", and ends with that: two would follow each other
//! with nobody the wiser.
//!
//! A server that stops for another reason says that it has stopped, too. It ends only once its
//! successor serves: to take a process apart that has mapped gigabytes keeps a core busy that the
//! successor has use for.
//!
//! They speak through a socket in the data folder, which only its owner can enter. The port is never
//! closed, so no client is refused: whoever connects while neither serves waits for the successor.

use std::convert::Infallible;
use std::fs;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::{Shutdown, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hadal_types::limits::SERVER_STOP_SECONDS_MAX;
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;

use crate::error::Error;
use crate::output;

/// The socket's name in a data folder.
const SOCKET: &str = "handover";
/// What a successor says: the number is the version of all of this.
const REQUEST: &[u8] = b"hadal handover 2\n";
/// What comes with the listening socket.
const LISTENER: &[u8] = b"listener\n";
/// What a successor says once nothing but the folder is missing.
const STOP: &[u8] = b"stop\n";
/// What is said once the folder is the successor's.
const STOPPED: &[u8] = b"stopped\n";
/// What others are told than the successor that was let in.
const TAKEN: &[u8] = b"taken\n";
/// A successor that waits says so that often.
const SAID_EVERY: Duration = Duration::from_secs(10);
/// A server that takes longer to stop for its successor ends as it is, whatever it may take otherwise, as
/// in "Fast Database Restarts at Facebook" (SIGMOD 2014), section 4.3: three minutes.
const STOP_TIME_MAX: Duration = Duration::from_secs(SERVER_STOP_SECONDS_MAX);
/// A successor waits longer than that, since none of the two would serve if it gave up first. One that is
/// not done by then hangs, or is held up: it will not even end.
const PATIENCE: Duration = Duration::from_secs(SERVER_STOP_SECONDS_MAX + 20);
/// Who was let in and does not say what it wants is not listened to for longer.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(1);
/// So often a successor asks who serves, where one after the other ends instead of an answer.
const ASKED_MAX: usize = 3;
/// A server that has stopped waits so long for its successor to serve before it ends.
const START_TIME_MAX: Duration = Duration::from_secs(10);
/// Nor is a successor waited for that does not get ready; another one may.
const READY_TIME_MAX: Duration = Duration::from_secs(60);

/// Where a server waits for its successor.
pub(crate) struct Door {
    listener: UnixListener,
    path: PathBuf,
    /// Who has the listening socket and gets ready.
    guest: Mutex<Option<OwnedFd>>,
}

impl Door {
    /// Opens the door in a data folder that this process has the leaves of. To be called within the
    /// runtime.
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

    /// Waits for a successor that is ready, and hands the listening socket over to it. That stays open
    /// here, too, and must not be accepted from any more.
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
                // First, so that nobody is refused for one that is no more.
                biased;
                is_ready = says(&mut stream, STOP, READY_TIME_MAX) => is_ready,
                never = self.refuse_others() => match never {},
            };
            if is_ready {
                if let Some(successor) = self.guest() {
                    if let Err(error) = self.refuse_others_from_now_on() {
                        output::say(&format!("other successors are told nothing: {error}"));
                    }
                    return successor;
                }
            } else {
                self.let_in(None);
                output::say("who was to take over did not get ready: this server goes on");
            }
        }
    }

    /// Tells all who come that another one takes over.
    async fn refuse_others(&self) -> Infallible {
        loop {
            let Ok((mut stream, _)) = self.listener.accept().await else { continue };
            // In turn: whoever says nothing keeps the others for a second.
            if says(&mut stream, REQUEST, REQUEST_TIME_MAX).await {
                let _ = stream.write_all(TAKEN).await;
            }
        }
    }

    /// Goes on telling so on a thread of its own, until the process ends: it stops, and its runtime with it.
    fn refuse_others_from_now_on(&self) -> io::Result<()> {
        let door: OwnedFd = self.listener.as_fd().try_clone_to_owned()?;
        let door = std::os::unix::net::UnixListener::from(door);
        let refusing = move || {
            // That holds for the runtime's descriptor, too, by which nobody is let in any more.
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

    /// Whether somebody was let in and gets ready.
    pub(crate) fn has_guest(&self) -> bool {
        self.guest.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn let_in(&self, guest: Option<OwnedFd>) {
        *self.guest.lock().unwrap_or_else(PoisonError::into_inner) = guest;
    }

    /// Who was let in and gets ready, if anybody does: whatever this server stops for, the folder is
    /// free for it then.
    pub(crate) fn guest(&self) -> Option<Successor> {
        let guest = self.guest.lock().unwrap_or_else(PoisonError::into_inner).take();
        let stream = UnixStream::from(guest?);
        stream.set_nonblocking(false).ok()?;
        Some(Successor(stream))
    }
}

/// How long a server may take to stop that gives itself so long: less where a successor waits for that.
pub(crate) fn stop_time(stop_max: Duration, is_waited_for: bool) -> Duration {
    if is_waited_for { stop_max.min(STOP_TIME_MAX) } else { stop_max }
}

/// Whether this is what is said next.
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
        // Of a socket that nobody listens on, a successor learns that nobody serves.
        let _ = fs::remove_file(&self.path);
    }
}

/// The process that takes over from this one.
pub(crate) struct Successor(UnixStream);

impl Successor {
    /// Says that the folder is free, and waits until the successor serves, or is no more, or some
    /// seconds are over. Should it not hear that, it sees this process end.
    pub(crate) fn tell_stopped(mut self) {
        // Some successors read until there is no more.
        let told = self.0.write_all(STOPPED).and_then(|()| self.0.shutdown(Shutdown::Write));
        if told.is_ok() && self.0.set_read_timeout(Some(START_TIME_MAX)).is_ok() {
            // It says no more, or what nobody asks for.
            let _ = self.0.read_to_end(&mut Vec::new());
        }
    }
}

/// The server before this one, which serves until it is told to stop.
pub(crate) struct Predecessor {
    stream: UnixStream,
    /// The socket that it listened on.
    pub(crate) listener: TcpListener,
    patience: Duration,
}

impl Predecessor {
    /// Asks the server of a data folder for its socket; `None` when there is none. Should no more
    /// be said, it goes on.
    pub(crate) fn ask(folder: &Path) -> Result<Option<Self>, Error> {
        Self::ask_within(folder, PATIENCE)
    }

    /// The same with another patience, for what it answers and for how long it takes to stop.
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
                // It was about to end, or is another's predecessor: who serves now?
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

    /// Has it stop, and waits until the folder is free. It ends when what is returned is dropped.
    pub(crate) fn stop(mut self) -> Result<Stopped, Error> {
        let mut said = [0; STOPPED.len()];
        let told = self.stream.write_all(STOP);
        let told = told.and_then(|()| await_word(&self.stream, "has stopped", self.patience));
        let read = told.and_then(|()| self.stream.read_exact(&mut said));
        match read {
            Ok(()) => Ok(Stopped(self)),
            // One that ended without a word, before or after it was told, has left the folder, too, but
            // not in order.
            Err(error) if is_ended(&error) => Ok(Stopped(self)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Err(given_up("stopped", self.patience))
            }
            Err(error) => Err(Error::io("wait for", "the server before this one")(error)),
        }
    }
}

/// Waits until the server before this one says something, or is no more; says on standard error for what, and
/// for how long already.
///
/// # Errors
/// [`io::ErrorKind::WouldBlock`] once it has taken too long.
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
    // What it says is short, and comes at once.
    stream.set_read_timeout(Some(REQUEST_TIME_MAX.max(patience.saturating_sub(start.elapsed()))))
}

/// That a server has not done in time what this one waits for.
fn given_up(done: &str, patience: Duration) -> Error {
    Error::Usage(format!(
        "the server before this one has not {done} within {} s: stop it, with kill -9 if need be, and \
         start this one again; nothing that was acknowledged is lost",
        patience.as_secs()
    ))
}

/// The server before this one, which has stopped, and ends once this is dropped.
pub(crate) struct Stopped(#[expect(dead_code, reason = "it is there to be dropped")] Predecessor);

/// Whether who was spoken with is there no more.
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
