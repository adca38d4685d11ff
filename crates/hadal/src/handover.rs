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
mod tests {
    use std::net::TcpStream;

    use super::*;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
    }

    #[test]
    fn a_successor_gets_the_socket_and_whoever_waits_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
        let address = listener.local_addr().expect("an address");
        let runtime = runtime();
        let door = runtime.block_on(async { Door::open(folder.path()) }).expect("opened");
        let path = folder.path().to_owned();
        let successor = std::thread::spawn(move || {
            let before = Predecessor::ask(&path).expect("asked").expect("there is one");
            let listener = before.listener.try_clone().expect("cloned");
            // Until this is dropped the other one waits.
            let _stopped = before.stop().expect("stopped");
            let (mut stream, _) = listener.accept().expect("a client");
            let mut said = [0; 5];
            stream.read_exact(&mut said).expect("read");
            said
        });
        let asked = runtime.block_on(door.successor(&OwnedFd::from(listener)));
        // Neither accepts just now; the client need not know.
        let mut client = TcpStream::connect(address).expect("connected");
        client.write_all(b"hello").expect("written");
        asked.tell_stopped();
        assert_eq!(&successor.join().expect("it took over"), b"hello");
    }

    #[test]
    fn of_two_successors_the_second_is_told_so_and_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let runtime = runtime();
        let door = runtime.block_on(async { Door::open(folder.path()) }).expect("opened");
        let path = folder.path().to_owned();
        let second = {
            let path = path.clone();
            move || {
                let patience = Duration::from_secs(20);
                let told = Predecessor::ask_within(&path, patience).map(|found| found.is_some());
                told.expect_err("another one takes over").to_string()
            }
        };
        let successors = std::thread::spawn(move || {
            let first = Predecessor::ask(&path).expect("asked").expect("there is one");
            let while_it_gets_ready = second();
            let stopping = std::thread::spawn(move || first.stop().map(drop));
            (while_it_gets_ready, second, stopping)
        });
        let listener = OwnedFd::from(TcpListener::bind("127.0.0.1:0").expect("bound"));
        let asked = runtime.block_on(door.successor(&listener));
        let (while_it_gets_ready, second, stopping) = successors.join().expect("it goes on");
        // It stops, and its runtime is no more.
        drop(runtime);
        let while_it_stops = second();
        for told in [while_it_gets_ready, while_it_stops] {
            assert!(told.contains("another process is taking over"), "{told}");
            assert!(told.contains(&folder.path().display().to_string()), "{told}");
        }
        asked.tell_stopped();
        stopping.join().expect("it ended").expect("the first one follows");
    }

    #[test]
    fn without_a_server_there_is_nothing_to_take_over() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(Predecessor::ask(folder.path()).expect("asked").is_none());
        // As a crash leaves it: a socket that nobody listens on.
        drop(std::os::unix::net::UnixListener::bind(folder.path().join(SOCKET)).expect("bound"));
        assert!(Predecessor::ask(folder.path()).expect("asked").is_none());
        fs::remove_file(folder.path().join(SOCKET)).expect("removed");
        fs::write(folder.path().join(SOCKET), "no socket").expect("written");
        assert!(Predecessor::ask(folder.path()).expect("refused").is_none());
    }

    #[test]
    fn whoever_says_something_else_is_not_listened_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let runtime = runtime();
        let door = runtime.block_on(async { Door::open(folder.path()) }).expect("opened");
        let path = folder.path().to_owned();
        let client = std::thread::spawn(move || {
            let mut wrong = UnixStream::connect(path.join(SOCKET)).expect("connected");
            wrong.write_all(b"hadal handover 1\n").expect("written");
            // It is closed before the right one is heard.
            let mut said = Vec::new();
            let _ = wrong.read_to_end(&mut said);
            assert!(said.is_empty());
            // Nor is who goes away before it is ready.
            drop(Predecessor::ask(&path).expect("asked").expect("there is one"));
            Predecessor::ask(&path).expect("asked").expect("there is one").stop().map(drop)
        });
        let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
        let asked = runtime.block_on(door.successor(&OwnedFd::from(listener)));
        asked.tell_stopped();
        client.join().expect("it ended").expect("stopped");
    }

    #[test]
    fn a_server_that_ends_before_it_is_told_to_stop_has_left_all_the_same() {
        let folder = tempfile::tempdir().expect("a folder");
        let runtime = runtime();
        let door = runtime.block_on(async { Door::open(folder.path()) }).expect("opened");
        let path = folder.path().to_owned();
        let asking = std::thread::spawn(move || Predecessor::ask(&path));
        let listener = OwnedFd::from(TcpListener::bind("127.0.0.1:0").expect("bound"));
        let before = runtime.block_on(async {
            let mut socket = door.listener.accept().await.expect("a successor").0;
            assert!(says(&mut socket, REQUEST, REQUEST_TIME_MAX).await);
            give(&socket, &listener).expect("given");
            asking.join().expect("it goes on").expect("asked").expect("there is one")
        });
        before.stop().expect("the socket is there");
    }

    #[test]
    fn a_server_that_stops_for_another_reason_tells_who_gets_ready() {
        let folder = tempfile::tempdir().expect("a folder");
        let runtime = runtime();
        let door = runtime.block_on(async { Door::open(folder.path()) }).expect("opened");
        let path = folder.path().to_owned();
        let successor = std::thread::spawn(move || {
            let before = Predecessor::ask(&path).expect("asked").expect("there is one");
            // It gets ready until the server has stopped.
            let mut said = [0];
            let seen = rustix::net::recv(&before.stream, &mut said[..], RecvFlags::PEEK);
            assert_eq!(seen.map(|(_, received)| received), Ok(1));
            before.stop().is_ok()
        });
        let listener = OwnedFd::from(TcpListener::bind("127.0.0.1:0").expect("bound"));
        let has_guest = async {
            while door.guest.lock().expect("locked").is_none() {
                tokio::task::yield_now().await;
            }
        };
        let told = runtime.block_on(async {
            tokio::select! {
                _ = door.successor(&listener) => false,
                () = has_guest => true,
            }
        });
        assert!(told, "nobody said that it is ready");
        let guest = door.guest().expect("somebody gets ready");
        drop(door);
        guest.tell_stopped();
        assert!(successor.join().expect("it took over"));
    }

    #[test]
    fn a_successor_that_reads_to_the_end_does_not_wait_for_the_end_of_the_server() {
        let (server, mut successor) = UnixStream::pair().expect("a pair");
        let telling = std::thread::spawn(move || Successor(server).tell_stopped());
        let mut said = Vec::new();
        successor.read_to_end(&mut said).expect("read");
        assert_eq!(said, STOPPED);
        assert!(!telling.is_finished());
        drop(successor);
        telling.join().expect("it ends");
    }

    #[test]
    fn whoever_waits_behind_the_door_of_a_server_that_ends_asks_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(SOCKET);
        let door = std::os::unix::net::UnixListener::bind(&path).expect("bound");
        let asking = std::thread::spawn({
            let folder = folder.path().to_owned();
            move || Predecessor::ask(&folder).map(|before| before.is_some())
        });
        let (waiting, _) = door.accept().expect("somebody is there");
        fs::remove_file(&path).expect("removed");
        drop(door);
        drop(waiting);
        assert!(!asking.join().expect("it goes on").expect("asked"), "nobody serves any more");
    }

    #[test]
    fn a_server_that_speaks_otherwise_is_not_taken_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(SOCKET);
        let door = std::os::unix::net::UnixListener::bind(path).expect("bound");
        let server = std::thread::spawn(move || {
            for _ in 0..ASKED_MAX {
                let (mut stream, _) = door.accept().expect("a successor");
                let mut request = vec![0; REQUEST.len()];
                stream.read_exact(&mut request).expect("read");
            }
        });
        let refused = Predecessor::ask(folder.path()).map(|before| before.is_some());
        let refused = refused.expect_err("refused").to_string();
        assert!(refused.contains("does not speak version 2 of the handover"), "{refused}");
        server.join().expect("it ended");
    }

    #[test]
    fn a_successor_is_more_patient_than_a_server_may_be_slow() {
        let slow = Duration::from_secs(SERVER_STOP_SECONDS_MAX);
        assert_eq!(stop_time(slow * 3, true), slow);
        assert_eq!(stop_time(slow * 3, false), slow * 3, "nobody waits for it");
        assert_eq!(stop_time(slow / 3, true), slow / 3);
        let both = stop_time(Duration::MAX, true) + START_TIME_MAX;
        assert!(PATIENCE > both, "{PATIENCE:?}, {both:?}");
    }

    /// What it says of itself once it has handed its socket over, or not even that.
    fn hung(has_answered: bool) -> Error {
        let folder = tempfile::tempdir().expect("a folder");
        let runtime = runtime();
        let door = runtime.block_on(async { Door::open(folder.path()) }).expect("opened");
        let path = folder.path().to_owned();
        let patience = Duration::from_millis(200);
        let successor = std::thread::spawn(move || {
            let before = Predecessor::ask_within(&path, patience)?.expect("there is one");
            before.stop().map(drop)
        });
        let listener = OwnedFd::from(TcpListener::bind("127.0.0.1:0").expect("bound"));
        let waits = runtime.block_on(async {
            let (socket, _) = door.listener.accept().await.expect("a successor");
            if has_answered {
                give(&socket, &listener).expect("given");
            }
            socket
        });
        // As a process that was stopped (SIGSTOP): all is open still, and nothing is said.
        let given_up = successor.join().expect("it ends").expect_err("it is given up");
        drop(waits);
        given_up
    }

    #[test]
    fn a_server_that_hangs_is_given_up_with_a_word_on_what_to_do() {
        for (has_answered, expected) in [(true, "not stopped"), (false, "not answered")] {
            let said = hung(has_answered).to_string();
            assert!(said.contains(expected), "{said}");
            assert!(said.contains("kill -9"), "{said}");
        }
    }
}
