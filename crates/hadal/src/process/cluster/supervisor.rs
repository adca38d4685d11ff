//! Starts processes of this program, such as the leaves of a machine, and starts each again when it
//! ends.
//!
//! A process is stopped in order by the end of its standard input: that also happens when this
//! process is killed, so no process is left without its supervisor.

use std::collections::BTreeMap;
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hadal_peer::{LeafRestart, LeafRestarter};
use parking_lot::{Condvar, Mutex};

use crate::error::Error;
use crate::output;

/// The pause before a process that ended soon after its start is started again; doubled each time.
const PAUSE_MIN: Duration = Duration::from_millis(100);
/// The longest of these pauses.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// A process that ran this long has no pause before it is started again.
const SETTLED: Duration = Duration::from_secs(10);
/// How often a process is checked for its end.
const CHECK: Duration = Duration::from_millis(20);

/// Processes that are started again.
pub(crate) struct Supervisor {
    state: Arc<State>,
    threads: Vec<JoinHandle<()>>,
}

struct State {
    /// The names of the processes.
    names: Vec<String>,
    asked: Mutex<Asked>,
    changed: Condvar,
    stop_max: Duration,
}

/// What was asked of the threads that watch processes.
#[derive(Default)]
struct Asked {
    is_stopping: bool,
    /// Numbers of processes to restart, and how long each may take to stop.
    restarts: BTreeMap<usize, Duration>,
}

/// Why a process is not watched any more.
enum Watched {
    Ended(ExitStatus),
    /// It may take this long to stop.
    ToRestart(Duration),
    ToStop,
}

/// The command of a process, by its number.
type MakeCommand = Arc<dyn Fn(usize) -> Command + Send + Sync>;

impl Supervisor {
    /// Starts a process of each of these names, with the command that `command` returns for its
    /// number. A stop of a process may take `stop_max`; then it is killed.
    ///
    /// # Errors
    /// If a thread cannot be started. A process that cannot be started is tried again.
    pub(crate) fn start(
        names: Vec<String>,
        stop_max: Duration,
        command: impl Fn(usize) -> Command + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let state = State {
            names: names.clone(),
            asked: Mutex::default(),
            changed: Condvar::new(),
            stop_max,
        };
        let (state, command) = (Arc::new(state), Arc::new(command) as MakeCommand);
        let mut threads = Vec::with_capacity(names.len());
        for (index, name) in names.into_iter().enumerate() {
            let (state, command) = (Arc::clone(&state), Arc::clone(&command));
            let thread = std::thread::Builder::new().name(name.clone());
            let supervise = move || state.supervise(index, &name, &command);
            threads.push(thread.spawn(supervise).map_err(Error::io("start", "a thread"))?);
        }
        Ok(Self { state, threads })
    }

    /// What stops a process in order and starts it again, by its name.
    pub(crate) fn restarter(&self) -> Arc<dyn LeafRestarter> {
        Arc::clone(&self.state) as _
    }

    /// Stops all processes in order, at the same time, and waits for their ends.
    pub(crate) fn stop(self) {
        self.state.asked.lock().is_stopping = true;
        self.state.changed.notify_all();
        for thread in self.threads {
            // A thread that panicked has reported so, and its process ends by its standard input.
            let _ = thread.join();
        }
    }
}

impl LeafRestarter for State {
    fn restart(&self, restart: &LeafRestart) -> bool {
        let index = self.names.iter().position(|name| **name == *restart.leaf.0);
        let Some(index) = index else { return false };
        self.asked.lock().restarts.insert(index, restart.stop_max);
        self.changed.notify_all();
        true
    }
}

impl State {
    /// Runs one process until the stop.
    fn supervise(&self, index: usize, name: &str, command: &MakeCommand) {
        let mut pause = PAUSE_MIN;
        loop {
            let start = Instant::now();
            // A restart that was asked for while there was no process is what happens now.
            self.asked.lock().restarts.remove(&index);
            let ended = match command(index).stdin(Stdio::piped()).spawn() {
                Err(error) => format!("could not start: {error}"),
                Ok(mut process) => match self.watch(index, name, &mut process) {
                    Err(error) => error.to_string(),
                    Ok(Watched::Ended(status)) => describe(status),
                    Ok(Watched::ToStop) => return self.end(name, &mut process, self.stop_max),
                    Ok(Watched::ToRestart(stop_max)) => {
                        output::say(&format!("{name} is restarted, as asked"));
                        self.end(name, &mut process, stop_max);
                        pause = PAUSE_MIN;
                        continue;
                    }
                },
            };
            pause = if start.elapsed() >= SETTLED { PAUSE_MIN } else { (pause * 2).min(PAUSE_MAX) };
            output::say(&format!("{name} {ended}; it is started again"));
            let mut asked = self.asked.lock();
            self.changed.wait_while_for(&mut asked, |asked| !asked.is_stopping, pause);
            if asked.is_stopping {
                return;
            }
        }
    }

    /// Reports a process, and waits for its end or for what is asked of it.
    fn watch(&self, index: usize, name: &str, process: &mut Child) -> io::Result<Watched> {
        output::say(&format!("{name} is process {}", process.id()));
        loop {
            if let Some(status) = process.try_wait()? {
                return Ok(Watched::Ended(status));
            }
            let mut asked = self.asked.lock();
            if asked.is_stopping {
                return Ok(Watched::ToStop);
            }
            if let Some(stop_max) = asked.restarts.remove(&index) {
                return Ok(Watched::ToRestart(stop_max));
            }
            self.changed.wait_for(&mut asked, CHECK);
        }
    }

    /// Stops a process in order, or kills it when that takes too long.
    fn end(&self, name: &str, process: &mut Child, stop_max: Duration) {
        drop(process.stdin.take());
        let until = Instant::now() + stop_max;
        while Instant::now() < until {
            if !matches!(process.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(CHECK);
        }
        let seconds = stop_max.as_secs();
        output::say(&format!(
            "{name} did not stop in {seconds} s, and is killed: its next start recovers"
        ));
        // Both fail only for a process that has ended.
        let _ = process.kill();
        let _ = process.wait();
    }
}

/// How a process ended, as words that follow its name.
fn describe(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;

    use hadal_types::LeafName;

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_process_that_ends_is_started_again_until_the_stop() {
        let (started, starts) = channel();
        let supervisor =
            Supervisor::start(vec!["one".to_owned()], Duration::from_secs(60), move |index| {
                started.send(index).expect("the test waits");
                shell("exit 7")
            });
        let supervisor = supervisor.expect("started");
        for _ in 0..3 {
            assert_eq!(starts.recv(), Ok(0));
        }
        supervisor.stop();
        assert!(starts.iter().count() <= 1);
    }

    #[test]
    fn a_stop_ends_the_standard_input_of_every_process() {
        let folder = tempfile::tempdir().expect("a folder");
        let names = vec!["one".to_owned(), "two".to_owned()];
        let (path, (started, starts)) = (folder.path().to_path_buf(), channel());
        let supervisor = Supervisor::start(names, Duration::from_secs(60), move |index| {
            started.send(()).expect("the test waits");
            let file = path.join(index.to_string());
            shell(&format!("cat; touch {}", file.display()))
        });
        let supervisor = supervisor.expect("started");
        for _ in 0..2 {
            starts.recv().expect("started");
        }
        supervisor.stop();
        assert_eq!(std::fs::read_dir(folder.path()).expect("read").count(), 2);
    }

    #[test]
    fn a_process_is_restarted_when_asked() {
        let (started, starts) = channel();
        let names = vec!["one".to_owned(), "two".to_owned()];
        let supervisor = Supervisor::start(names, Duration::from_secs(60), move |index| {
            started.send(index).expect("the test waits");
            shell("cat")
        });
        let supervisor = supervisor.expect("started");
        let mut first: Vec<usize> = starts.iter().take(2).collect();
        first.sort_unstable();
        assert_eq!(first, [0, 1]);
        let restarter = supervisor.restarter();
        let restart = |name: &str| {
            let (leaf, stop_max) = (LeafName(name.into()), Duration::from_secs(60));
            restarter.restart(&LeafRestart { leaf, stop_max })
        };
        assert!(restart("two"));
        assert_eq!(starts.recv(), Ok(1));
        assert!(!restart("three"));
        supervisor.stop();
        assert_eq!(starts.iter().count(), 0);
    }

    #[test]
    fn a_process_that_does_not_stop_is_killed() {
        let (started, starts) = channel();
        let names = vec!["one".to_owned()];
        let count = AtomicUsize::new(0);
        let supervisor = Supervisor::start(names, Duration::from_secs(60), move |_| {
            let count = count.fetch_add(1, Ordering::Relaxed);
            started.send(count).expect("the test waits");
            // The first one does not read its input.
            shell(if count == 0 { "exec sleep 600" } else { "cat" })
        });
        let supervisor = supervisor.expect("started");
        assert_eq!(starts.recv(), Ok(0));
        let (leaf, stop_max) = (LeafName("one".into()), Duration::from_millis(1));
        assert!(supervisor.restarter().restart(&LeafRestart { leaf, stop_max }));
        assert_eq!(starts.recv(), Ok(1));
        supervisor.stop();
    }

    #[test]
    fn the_end_of_a_process_is_described() {
        use std::os::unix::process::ExitStatusExt;
        assert_eq!(describe(ExitStatus::from_raw(9)), "was killed by signal 9");
        assert_eq!(describe(ExitStatus::from_raw(2 << 8)), "ended with code 2");
    }
}
