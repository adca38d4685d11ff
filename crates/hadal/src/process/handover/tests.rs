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
        // The server waits until this value is dropped.
        let _stopped = before.stop().expect("stopped");
        let (mut stream, _) = listener.accept().expect("a client");
        let mut said = [0; 5];
        stream.read_exact(&mut said).expect("read");
        said
    });
    let asked = runtime.block_on(door.successor(&OwnedFd::from(listener)));
    // Neither process accepts at this moment; the client does not notice.
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
            let outcome =
                Predecessor::ask_within(&path, patience).map(|predecessor| predecessor.is_some());
            outcome.expect_err("another one takes over").to_string()
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
    // The server stops, and its runtime ends.
    drop(runtime);
    let while_it_stops = second();
    for error in [while_it_gets_ready, while_it_stops] {
        assert!(error.contains("another process is taking over"), "{error}");
        assert!(error.contains(&folder.path().display().to_string()), "{error}");
    }
    asked.tell_stopped();
    stopping.join().expect("it ended").expect("the first one follows");
}

#[test]
fn without_a_server_there_is_nothing_to_take_over() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(Predecessor::ask(folder.path()).expect("asked").is_none());
    // A crash leaves a socket on which no process listens.
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
        // The server closes the connection before the right one gets an answer.
        let mut said = Vec::new();
        let _ = wrong.read_to_end(&mut said);
        assert!(said.is_empty());
        // A successor that leaves before it is ready is ignored too.
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
        // The successor gets ready until the server has stopped.
        let mut said = [0];
        let peeked = rustix::net::recv(&before.stream, &mut said[..], RecvFlags::PEEK);
        assert_eq!(peeked.map(|(_, received)| received), Ok(1));
        before.stop().is_ok()
    });
    let listener = OwnedFd::from(TcpListener::bind("127.0.0.1:0").expect("bound"));
    let has_guest = async {
        while door.guest.lock().is_none() {
            tokio::task::yield_now().await;
        }
    };
    let is_ready = runtime.block_on(async {
        tokio::select! {
            _ = door.successor(&listener) => false,
            () = has_guest => true,
        }
    });
    assert!(is_ready, "nobody said that it is ready");
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

/// Returns a successor's error with a server that hangs: after it handed its socket over, or
/// before.
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
    // Like a suspended process (SIGSTOP): everything is still open, and nothing is sent.
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
