//! Table `processes`: the activity of this machine's processes, one row per process and second.
//!
//! Only the command's name is recorded (`comm`), never its arguments: arguments may hold secrets.

use std::collections::HashMap;

use hadal_block::{BlockBuilder, ColumnId};
use hadal_types::limits::BLOCK_ROWS_MAX;
use hadal_types::{BatchId, ColumnName, Decimal, Kind, Micros, NameError, Number};

use super::proc_folder::ProcFolder;
use crate::error::Error;

/// One process at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Process {
    pid: u32,
    command: String,
    state: &'static str,
    user: Option<String>,
    threads: u64,
    rss_bytes: u64,
    counters: Counters,
}

/// Counters that only grow during a process's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counters {
    /// Distinguishes a process from a later one with the same number.
    started_at: u64,
    cpu_ticks: u64,
    /// Bytes read from and written to storage, if this user may read them.
    io_bytes: Option<(u64, u64)>,
}

/// Takes samples, and keeps the last sample's counters.
pub(crate) struct Processes {
    folder: Box<dyn ProcFolder>,
    last: HashMap<u32, Counters>,
    last_time: Micros,
}

impl Processes {
    pub(crate) fn new(folder: Box<dyn ProcFolder>) -> Self {
        Self { folder, last: HashMap::new(), last_time: Micros(0) }
    }

    /// Returns a block with one row per process, or `None` if there are none. Rates cover the time
    /// since the last sample, and are null for processes that it lacks.
    pub(crate) fn sample(
        &mut self,
        time: Micros,
    ) -> Result<Option<(BatchId, usize, Vec<u8>)>, Error> {
        let pids = self.folder.pids();
        let processes: Vec<Process> = pids
            .into_iter()
            .take(BLOCK_ROWS_MAX)
            .filter_map(|pid| read_process(&*self.folder, pid))
            .collect();
        let mut builder = BlockBuilder::new(ColumnName::new("time")?);
        let columns = Columns::new(&mut builder)?;
        for process in &processes {
            self.write(&mut builder, &columns, process, time)?;
        }
        self.last = processes.iter().map(|process| (process.pid, process.counters)).collect();
        self.last_time = time;
        let id = format!("demo-processes-{}", time.0);
        let id = BatchId::new(&id).ok_or(Error::BatchId(id))?;
        let rows = builder.rows();
        if rows == 0 {
            return Ok(None);
        }
        let block = builder.finish(time, Some((&id, 0)))?;
        Ok(Some((id, rows, block)))
    }

    fn write(
        &self,
        builder: &mut BlockBuilder,
        columns: &Columns,
        process: &Process,
        time: Micros,
    ) -> Result<(), Error> {
        let mut number = |column, value: u64| {
            let value = i64::try_from(value).unwrap_or(i64::MAX);
            builder.push_number(column, Number::integer(value))
        };
        number(columns.pid, process.pid.into())?;
        number(columns.threads, process.threads)?;
        number(columns.rss_bytes, process.rss_bytes)?;
        let now = process.counters;
        let last = self.last.get(&process.pid).filter(|last| last.started_at == now.started_at);
        if let Some((now, last)) = now.io_bytes.zip(last.and_then(|last| last.io_bytes)) {
            number(columns.read_bytes, now.0.saturating_sub(last.0))?;
            number(columns.write_bytes, now.1.saturating_sub(last.1))?;
        }
        if let Some(last) = last {
            let ticks = now.cpu_ticks.saturating_sub(last.cpu_ticks);
            let percent = self.percent(ticks, time);
            builder.push_number(columns.cpu_percent, percent)?;
        }
        builder.push_string(columns.command, &process.command)?;
        builder.push_string(columns.state, process.state)?;
        if let Some(user) = &process.user {
            builder.push_string(columns.user, user)?;
        }
        builder.end_row(time);
        Ok(())
    }

    /// The share of one processor since the last sample, in percent with one decimal place.
    fn percent(&self, ticks: u64, time: Micros) -> Number {
        let micros = i128::from(time.0) - i128::from(self.last_time.0);
        let of_ticks = micros.max(1) * i128::from(self.folder.ticks_per_second());
        let tenths = i128::from(ticks) * 1_000 * 1_000_000 / of_ticks.max(1);
        Decimal::new(tenths, 1).map_or(Number::ZERO, Number::from)
    }
}

/// Reads a process. Returns `None` if it has just ended.
fn read_process(folder: &dyn ProcFolder, pid: u32) -> Option<Process> {
    let stat = folder.read(pid, "stat")?;
    // The name is in parentheses and may itself contain some.
    let (head, tail) = stat.rsplit_once(')')?;
    let command = head.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
    // Numbered from the third field on, as in proc_pid_stat(5).
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let status = folder.read(pid, "status").unwrap_or_default();
    let uid: Option<u32> =
        labelled(&status, "Uid:").and_then(|ids| ids.split_ascii_whitespace().next()?.parse().ok());
    let name = |uid: u32| folder.user_name(uid).map_or_else(|| uid.to_string(), str::to_owned);
    let io = folder.read(pid, "io").unwrap_or_default();
    let io_field = |label| labelled(&io, label)?.trim().parse::<u64>().ok();
    Some(Process {
        pid,
        command: if command.is_empty() { "?".to_owned() } else { command },
        state: state_name(fields.first().copied().unwrap_or_default()),
        user: uid.map(name),
        threads: field(20)?,
        rss_bytes: field(24)?.saturating_mul(folder.page_bytes()),
        counters: Counters {
            started_at: field(22)?,
            cpu_ticks: field(14)?.saturating_add(field(15)?),
            io_bytes: io_field("read_bytes:").zip(io_field("write_bytes:")),
        },
    })
}

/// The text after a label at the beginning of a line.
fn labelled<'t>(text: &'t str, label: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(label))
}

fn state_name(letter: &str) -> &'static str {
    match letter {
        "R" => "running",
        "S" => "sleeping",
        "D" => "waiting for disk",
        "T" | "t" => "stopped",
        "Z" => "zombie",
        "I" => "idle",
        _ => "other",
    }
}

struct Columns {
    pid: ColumnId,
    command: ColumnId,
    user: ColumnId,
    state: ColumnId,
    threads: ColumnId,
    cpu_percent: ColumnId,
    rss_bytes: ColumnId,
    read_bytes: ColumnId,
    write_bytes: ColumnId,
}

impl Columns {
    fn new(builder: &mut BlockBuilder) -> Result<Self, NameError> {
        let mut column = |name, kind| Ok(builder.column(&ColumnName::new(name)?, kind));
        Ok(Self {
            pid: column("pid", Kind::Number)?,
            command: column("command", Kind::String)?,
            user: column("user", Kind::String)?,
            state: column("state", Kind::String)?,
            threads: column("threads", Kind::Number)?,
            cpu_percent: column("cpu_percent", Kind::Number)?,
            rss_bytes: column("rss_bytes", Kind::Number)?,
            read_bytes: column("read_bytes", Kind::Number)?,
            write_bytes: column("write_bytes", Kind::Number)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use hadal_block::BlockView;
    use hadal_types::Value;

    use super::*;

    type Files = HashMap<(u32, &'static str), String>;

    /// A folder of invented files that a test can change.
    #[derive(Clone, Default)]
    struct MadeUp(Arc<Mutex<Files>>);

    impl MadeUp {
        fn put(&self, pid: u32, file: &'static str, text: &str) {
            self.0.lock().expect("a lock").insert((pid, file), text.to_owned());
        }

        fn process(&self, pid: u32, command: &str, ticks: u64, started_at: u64) {
            let stat = format!(
                "{pid} ({command}) S 1 1 1 0 -1 4194560 1 2 3 4 {ticks} 5 0 0 20 0 7 0 {started_at} 999 3 \
                 18446744073709551615"
            );
            self.put(pid, "stat", &stat);
            self.put(pid, "status", &format!("Name:\t{command}\nUid:\t1000\t1000\t1000\t1000\n"));
        }
    }

    impl ProcFolder for MadeUp {
        fn pids(&self) -> Vec<u32> {
            let files = self.0.lock().expect("a lock");
            let mut pids: Vec<u32> = files.keys().map(|(pid, _)| *pid).collect();
            pids.sort_unstable();
            pids.dedup();
            pids
        }
        fn read(&self, pid: u32, file: &str) -> Option<String> {
            let files = self.0.lock().expect("a lock");
            files.iter().find(|((p, f), _)| *p == pid && *f == file).map(|(_, text)| text.clone())
        }
        fn user_name(&self, uid: u32) -> Option<&str> {
            (uid == 1_000).then_some("ada")
        }
        fn ticks_per_second(&self) -> u64 {
            100
        }
        fn page_bytes(&self) -> u64 {
            4_096
        }
    }

    fn values(block: &[u8], column: &str, kind: Kind) -> Vec<Value> {
        let view = BlockView::parse(block).expect("a valid block");
        let Some(column) = view.column(column, kind) else { return vec![Value::Null; view.rows()] };
        let data = column.decode().expect("a valid column");
        (0..view.rows()).map(|row| data.value(row)).collect()
    }

    #[test]
    fn a_sample_has_what_the_kernel_says() {
        let folder = MadeUp::default();
        folder.process(7, "a) (b", 10, 50);
        let mut processes = Processes::new(Box::new(folder.clone()));
        let second = Micros(Micros::SECOND);
        let (_, rows, block) = processes.sample(second).expect("a sample").expect("rows");
        assert_eq!(rows, 1);
        assert_eq!(values(&block, "command", Kind::String), [Value::string("a) (b")]);
        assert_eq!(values(&block, "user", Kind::String), [Value::string("ada")]);
        assert_eq!(values(&block, "state", Kind::String), [Value::string("sleeping")]);
        assert_eq!(values(&block, "threads", Kind::Number), [Value::integer(7)]);
        assert_eq!(values(&block, "rss_bytes", Kind::Number), [Value::integer(3 * 4_096)]);
        assert_eq!(values(&block, "cpu_percent", Kind::Number), [Value::Null]);
    }

    #[test]
    fn rates_are_over_the_time_since_the_last_sample() {
        let folder = MadeUp::default();
        let mut processes = Processes::new(Box::new(folder.clone()));
        folder.process(7, "x", 10, 50);
        folder.put(7, "io", "rchar: 1\nread_bytes: 100\nwrite_bytes: 5\n");
        processes.sample(Micros(Micros::SECOND)).expect("a sample");
        folder.process(7, "x", 45, 50);
        folder.put(7, "io", "rchar: 1\nread_bytes: 4196\nwrite_bytes: 5\n");
        folder.process(8, "new", 45, 60);
        let (_, _, block) =
            processes.sample(Micros(3 * Micros::SECOND)).expect("a sample").expect("rows");
        let percent: Value = Value::Number("17.5".parse().expect("a number"));
        assert_eq!(values(&block, "cpu_percent", Kind::Number), [percent, Value::Null]);
        let read = values(&block, "read_bytes", Kind::Number);
        assert_eq!(read, [Value::integer(4_096), Value::Null]);
        // Another process with the same number is not the same process.
        folder.process(7, "y", 1, 70);
        let (_, _, block) =
            processes.sample(Micros(4 * Micros::SECOND)).expect("a sample").expect("rows");
        assert_eq!(values(&block, "cpu_percent", Kind::Number)[0], Value::Null);
    }

    #[test]
    fn processes_that_end_meanwhile_are_left_out() {
        let folder = MadeUp::default();
        folder.put(9, "status", "Uid:\t0\n");
        folder.put(10, "stat", "garbage");
        let mut processes = Processes::new(Box::new(folder));
        assert_eq!(processes.sample(Micros(1)).expect("a sample"), None);
    }
}
