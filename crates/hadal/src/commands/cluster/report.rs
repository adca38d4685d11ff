//! The answer of `/v1/cluster`, as far as the commands read it.

use hadal_types::time::parse_timestamp;
use serde::Deserialize;

/// A cluster at one moment.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Cluster {
    pub(crate) cluster: Option<String>,
    pub(crate) at: String,
    pub(crate) leaves: u64,
    pub(crate) leaves_answering: u64,
    #[serde(flatten)]
    pub(crate) rows: Rows,
    pub(crate) used_bytes: u64,
    pub(crate) free_bytes: u64,
    pub(crate) problems: Vec<String>,
    pub(crate) machines: Vec<Machine>,
    pub(crate) tables: Vec<Table>,
    pub(crate) tables_left_out: u64,
}

/// Rows that queries see, and rows that they should see.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Rows {
    pub(crate) rows: u64,
    pub(crate) rows_expected: u64,
    pub(crate) coverage: f64,
}

/// One machine.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Machine {
    pub(crate) name: String,
    pub(crate) rack: String,
    pub(crate) aggregator: Option<Aggregator>,
    pub(crate) leaves: Vec<Leaf>,
}

/// The aggregator of a machine.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Aggregator {
    pub(crate) url: String,
    pub(crate) state: String,
    pub(crate) since: Option<String>,
    pub(crate) release: Option<String>,
}

/// One leaf.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Leaf {
    pub(crate) name: String,
    pub(crate) state: String,
    pub(crate) answers: bool,
    pub(crate) since: Option<String>,
    pub(crate) release: Option<String>,
    pub(crate) started: Option<String>,
    pub(crate) used_bytes: u64,
    pub(crate) free_bytes: u64,
    #[serde(flatten)]
    pub(crate) rows: Rows,
    pub(crate) tables: Vec<Table>,
    pub(crate) tables_left_out: u64,
}

/// A table, or a leaf's share of one.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Table {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) rows: Rows,
    pub(crate) block_bytes: u64,
}

impl Cluster {
    /// All leaves, in the order of their machines.
    pub(crate) fn all_leaves(&self) -> impl Iterator<Item = &Leaf> {
        self.machines.iter().flat_map(|machine| &machine.leaves)
    }
}

impl Leaf {
    /// Whether it was started a moment before the time `at`.
    fn is_young(&self, at: &str) -> bool {
        let times = self.started.as_deref().and_then(parse_timestamp).zip(parse_timestamp(at));
        times.is_some_and(|(started, at)| at.seconds_since(started) < YOUNG_SECONDS)
    }

    /// The state as people say it, at the time `at`.
    pub(crate) fn state_words(&self, at: &str) -> String {
        match self.state.as_str() {
            "silent" if self.release.is_none() => "gone".to_owned(),
            "silent" => format!("silent{}", lasting(self.since.as_deref(), at)),
            "prepare" => "about to stop".to_owned(),
            "memory recovery" | "disk recovery" => {
                format!("restoring {}", percent(self.rows.coverage))
            }
            "alive" if self.is_young(at) => {
                format!("alive{}", lasting(self.started.as_deref(), at))
            }
            state => state.to_owned(),
        }
    }
}

/// How long a leaf is said to have started, in seconds.
const YOUNG_SECONDS: i64 = 60;

/// How long something has lasted at the time `at`: ` for 49 s`; empty if that is unknown.
pub(crate) fn lasting(since: Option<&str>, at: &str) -> String {
    let times = since.and_then(parse_timestamp).zip(parse_timestamp(at));
    let Some((since, at)) = times else { return String::new() };
    match at.seconds_since(since).max(0) {
        seconds @ ..120 => format!(" for {seconds} s"),
        seconds @ 120..7_200 => format!(" for {} min", seconds / 60),
        seconds @ 7_200..172_800 => format!(" for {} h", seconds / 3_600),
        seconds => format!(" for {} days", seconds / 86_400),
    }
}

/// A share in percent, never rounded up to 100 %.
pub(crate) fn percent(fraction: f64) -> String {
    if fraction >= 1.0 {
        return "100 %".to_owned();
    }
    format!("{:.1} %", (fraction * 1_000.0).floor() / 10.0)
}
