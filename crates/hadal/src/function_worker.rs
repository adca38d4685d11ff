//! The worker process of user functions: it reads requests from its standard input, which is a
//! socket, and answers there. It is started by another process of this program only.
//!
//! Everything that a function could misuse is given up before the first request (`sandbox.rs`);
//! what remains is the engine (`engine.rs`).

mod driver;
mod engine;
mod sandbox;

use std::io::{self, BufReader};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use hadal_functions::message::{MessageError, Request, Response, read_frame, write_frame};

use crate::error::Error;
use engine::{Engine, Failure};

/// The hidden command that starts a worker.
pub(crate) const COMMAND: &str = "function-worker";

/// Serves requests until the other side is gone.
pub(crate) fn run() -> Result<(), Error> {
    let failed = |source| Error::Io { action: "serve", place: "functions".to_owned(), source };
    let input = io::stdin().as_fd().try_clone_to_owned().map_err(failed)?;
    let socket = UnixStream::from(input);
    let notes = sandbox::enter();
    match serve(&socket, notes) {
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(failed(error)),
        _ => Ok(()),
    }
}

fn serve(socket: &UnixStream, notes: Vec<String>) -> io::Result<()> {
    let (mut input, mut output) = (BufReader::new(socket), socket);
    write_frame(&mut output, &Response::Ready(notes).encode())?;
    let mut engine = None;
    loop {
        let request = Request::decode(&read_frame(&mut input)?).map_err(not_ours)?;
        let response = match answer(request, &mut engine) {
            Ok(response) => response,
            Err(Failure { line, message }) => Response::Error { line, message },
        };
        write_frame(&mut output, &response.encode())?;
    }
}

fn answer(request: Request, engine: &mut Option<Engine>) -> Result<Response, Failure> {
    match request {
        Request::Load(definition) => {
            // The old engine's memory goes first.
            *engine = None;
            *engine = Some(Engine::load(definition)?);
            Ok(Response::Loaded)
        }
        Request::Call { millis, rows, arguments } => {
            loaded(engine)?.call(millis, rows, arguments).map(Response::Column)
        }
        Request::Update { millis, state, rows, weights, arguments } => {
            let updated = loaded(engine)?.update(millis, state, (rows, weights), arguments);
            updated.map(Response::State)
        }
        Request::Merge { millis, states } => {
            loaded(engine)?.merge(millis, states).map(Response::State)
        }
        Request::Finish { millis, state } => {
            loaded(engine)?.finish(millis, state).map(Response::Column)
        }
    }
}

fn loaded(engine: &mut Option<Engine>) -> Result<&mut Engine, Failure> {
    engine.as_mut().ok_or_else(|| Failure::new(0, "no function is loaded"))
}

/// Bytes that this program does not send: the worker ends.
fn not_ours(error: MessageError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
