//! Workers that are threads, with a manner each.

use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicUsize;
use std::thread;

use hadal_types::{FunctionKind, FunctionType, Value};

use super::*;
use crate::link::Worker;
use crate::message::{read_frame, write_frame};

/// What the worker does with a call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Manner {
    Answers,
    Stalls,
    Fails,
    Dies,
    Babbles,
}

/// Starts threads; the first ones have these manners, all others answer.
#[derive(Debug)]
struct Threads {
    manners: Mutex<Vec<Manner>>,
    started: Arc<AtomicUsize>,
}

impl Launcher for Threads {
    fn launch(&self) -> io::Result<Worker> {
        let (ours, theirs) = UnixStream::pair()?;
        let manner = self.manners.lock().pop().unwrap_or(Manner::Answers);
        self.started.fetch_add(1, Ordering::Relaxed);
        thread::spawn(move || work(theirs, manner));
        Ok(Worker { socket: ours, process: None })
    }
}

fn work(mut socket: UnixStream, manner: Manner) -> io::Result<()> {
    write_frame(&mut socket, &Response::Ready(Vec::new()).encode())?;
    loop {
        let response = match Request::decode(&read_frame(&mut socket)?) {
            Ok(Request::Load(_)) => Response::Loaded,
            Ok(Request::Call { rows, .. }) => match manner {
                Manner::Answers => {
                    let mut column = UdfColumn::with_capacity(FunctionType::Number, rows);
                    (0..rows).for_each(|_| column.push(&Value::integer(7)));
                    Response::Column(column)
                }
                // Waits for a message that never comes: until the parent closes its end.
                Manner::Stalls => continue,
                Manner::Fails => Response::Error { line: 3, message: "no".to_owned() },
                Manner::Dies => return Ok(()),
                Manner::Babbles => {
                    write_frame(&mut socket, b"what?")?;
                    continue;
                }
            },
            Ok(_) => return Ok(()),
            Err(error) => return Err(io::Error::other(error)),
        };
        write_frame(&mut socket, &response.encode())?;
    }
}

fn pool(manners: &[Manner]) -> (Arc<WorkerPool>, Arc<AtomicUsize>) {
    let started = Arc::new(AtomicUsize::new(0));
    let manners = Mutex::new(manners.to_vec());
    let threads = Box::new(Threads { manners, started: Arc::clone(&started) });
    (WorkerPool::new(threads, |_| ()), started)
}

fn session(pool: &Arc<WorkerPool>) -> Session {
    pool.session(Arc::new(FunctionDefinition {
        name: "f".to_owned(),
        kind: FunctionKind::Scalar,
        parameters: Vec::new(),
        returns: FunctionType::Number,
        called_on_null: false,
        source: String::new(),
    }))
}

const CALL: UdfCall<'_> = UdfCall { deadline: None, is_cancelled: &|| false };

#[test]
fn a_worker_is_used_again() {
    let (pool, started) = pool(&[]);
    for _ in 0..3 {
        let column = session(&pool).call(2, &[], &CALL).expect("called");
        assert_eq!([column.value(0), column.value(1)], [Value::integer(7), Value::integer(7)]);
    }
    assert_eq!(started.load(Ordering::Relaxed), 1);
    assert_eq!(pool.count.load(Ordering::Relaxed), 1);
}

#[test]
fn a_worker_that_misbehaves_is_replaced() {
    for (manner, message, workers) in [
        (Manner::Stalls, "no answer in time", 2),
        (Manner::Dies, "the worker process is lost", 2),
        (Manner::Babbles, "the worker process answers wrongly", 2),
        (Manner::Fails, "line 3: no", 2),
    ] {
        let (pool, started) = pool(&[manner]);
        let error = session(&pool).call(1, &[], &CALL).expect_err("fails").to_string();
        assert!(error.starts_with(message), "{error}");
        if manner == Manner::Fails {
            // A function that throws does no harm to its worker.
            assert_eq!(pool.idle.lock().len(), 1);
            pool.idle.lock().clear();
        }
        assert_eq!(session(&pool).call(1, &[], &CALL).expect("called").len(), 1);
        assert_eq!(started.load(Ordering::Relaxed), workers);
    }
}

#[test]
fn a_worker_that_died_while_it_was_idle_fails_no_query() {
    let (pool, started) = pool(&[]);
    session(&pool).call(1, &[], &CALL).expect("called");
    pool.idle.lock()[0].close();
    session(&pool).call(1, &[], &CALL).expect("called by another worker");
    assert_eq!(started.load(Ordering::Relaxed), 2);
    assert_eq!(pool.count.load(Ordering::Relaxed), 1);
}

#[test]
fn a_cancelled_query_does_not_wait() {
    let (pool, _) = pool(&[Manner::Stalls]);
    let call = UdfCall { deadline: None, is_cancelled: &|| true };
    let error = session(&pool).call(1, &[], &call).expect_err("cancelled");
    assert!(matches!(error, WorkerError::Cancelled), "{error}");
}

#[test]
fn calls_end_before_the_query_and_by_their_own_limit() {
    let most = Duration::from_millis(FUNCTION_CALL_MILLIS_MAX);
    assert_eq!(limit(None), most);
    assert_eq!(limit(Some(Instant::now() + 100 * most)), most);
    assert!(limit(Some(Instant::now() + most)) < most);
    assert_eq!(limit(Some(Instant::now())), Duration::ZERO);
}

#[test]
fn workers_are_limited() {
    let (pool, _) = pool(&[]);
    let until = Until { at: Instant::now() + Duration::from_secs(60), is_cancelled: &|| false };
    let leased: Vec<_> = (0..FUNCTION_WORKERS_MAX).map(|_| pool.lease(1, &until)).collect();
    assert!(leased.iter().all(Result::is_ok));
    assert!(matches!(pool.lease(1, &until), Err(WorkerError::Busy)));
    drop(leased);
    assert!(pool.lease(1, &until).is_ok());
}
