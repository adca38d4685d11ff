//! All of Hadal below HTTP in one process: leaves in memory, the tree over them, SQL on top.

mod grpc;
mod sent;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use hadal_aggregate::RowKind;
use hadal_ingest::{AgePolicy, Format, Ingest, ReadOptions, Settings, Summary};
use hadal_leaf::{Durability, Leaf, LeafConfig, LeafGroup, LeafLimits, PreopenedStore, ScanPool};
use hadal_peer::{Admin, Peer, Sink, TableChange};
use hadal_query::TimeZone;
use hadal_sql::{
    Context, Parsed, QuerySpec, SqlError, Statement, UnknownColumns, parse, parse_spec,
};
use hadal_tree::{Aggregator, ClusterStatus, ExpectedRows, Placement, PlacementLeaf, Root};
use hadal_types::limits;
use hadal_types::{
    BatchId, Clock, FixedClock, LeafName, MemoryPool, Micros, TableName, TableSchema, Value,
};
use hadal_wire::LoopbackCodec;

use sent::Sent;

/// How leaves are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hops {
    /// By calls.
    InProcess,
    /// Also by calls, but every message is encoded and decoded as on a network: between leaves and
    /// aggregators, and once more at the root.
    Loopback,
    /// By gRPC over sockets: every leaf and every aggregator of three machines is a server.
    Grpc,
}

/// One process of Hadal, at a fixed time.
pub struct Session {
    /// The runtime of everything behind the session.
    pub runtime: tokio::runtime::Runtime,
    /// The root of the tree.
    pub root: Root,
    /// Where batches are placed.
    pub placement: Arc<Placement>,
    /// The rows that the leaves should hold.
    pub expected_rows: Arc<ExpectedRows>,
    /// The clock, which stands still.
    pub clock: Arc<FixedClock>,
    sent: Arc<Sent>,
    bodies: u64,
}

/// The result of a statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// The answer's column names.
    pub names: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Value>>,
    /// The number of stored rows behind each row; empty for constants.
    pub raw_counts: Vec<u64>,
    /// What each row stands for; empty for constants.
    pub kinds: Vec<RowKind>,
    /// Codes of notes and warnings.
    pub warnings: Vec<String>,
}

/// The tree's catalog as a catalog of SQL.
struct Tables(ClusterStatus);

impl hadal_sql::Catalog for Tables {
    fn table(&self, name: &str) -> Option<Arc<TableSchema>> {
        self.0.schema(name)
    }

    fn table_names(&self) -> Vec<TableName> {
        self.0.tables.keys().cloned().collect()
    }
}

/// Opens a leaf in memory.
fn open_leaf(
    name: LeafName,
    pool: &Arc<ScanPool>,
    budget: &Arc<MemoryPool>,
    clock: &Arc<FixedClock>,
) -> Result<Arc<Leaf>, String> {
    let leaf = Leaf::open(LeafConfig {
        name,
        folder: None,
        memory: None,
        preopened: PreopenedStore::default(),
        expects_data: false,
        durability: Durability::Sync,
        pool: Arc::clone(pool),
        zone_answers: true,
        limits: LeafLimits { table_bytes_max: u64::MAX, ..LeafLimits::of_one_in(1) },
        query_bytes_max: limits::LEAF_QUERY_BYTES_MAX,
        budget: Arc::clone(budget),
        clock: Arc::clone(clock) as Arc<dyn Clock>,
        archive: None,
    });
    leaf.map(Arc::new).map_err(|error| error.to_string())
}

impl Session {
    /// Opens `leaves` leaves in memory, at `now`.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn new(leaves: usize, hops: Hops, now: Micros) -> Result<Self, String> {
        let clock = Arc::new(FixedClock::new(now));
        let ledger = Arc::new(ExpectedRows::default());
        let budget = MemoryPool::new(limits::QUERIES_BYTES_MAX);
        let pool = ScanPool::new(2).map_err(|error| error.to_string())?;
        let (mut opened, mut peers, mut sinks) = (Vec::new(), Vec::new(), Vec::new());
        for index in 0..leaves {
            let name = LeafName(format!("leaf-{index}").into());
            let leaf = open_leaf(name.clone(), &pool, &budget, &clock)?;
            type Seams = (Arc<dyn Peer>, Arc<dyn Sink>, Arc<dyn Admin>);
            let (peer, sink, admin): Seams = match hops {
                // With gRPC, they are replaced below.
                Hops::InProcess | Hops::Grpc => (
                    Arc::<Leaf>::clone(&leaf),
                    Arc::<Leaf>::clone(&leaf),
                    Arc::<Leaf>::clone(&leaf),
                ),
                Hops::Loopback => {
                    let shared_leaf = Arc::<Leaf>::clone(&leaf);
                    let codec = Arc::new(LoopbackCodec::new(name.clone(), shared_leaf));
                    (Arc::clone(&codec) as _, Arc::clone(&codec) as _, codec)
                }
            };
            opened.push(Arc::clone(&leaf));
            peers.push((name.clone(), peer));
            sinks.push(PlacementLeaf { name, sink, admin, tables: Vec::new(), joined: None });
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let sent = Arc::new(Sent::default());
        // As in one process, and as over a network.
        let tree: Arc<dyn Peer> = match hops {
            Hops::InProcess => {
                let names = peers.into_iter().map(|(name, _)| name).collect();
                Arc::new(Aggregator::over(Arc::new(LeafGroup::new(opened)), names, &ledger))
            }
            Hops::Loopback => {
                let tree = Arc::new(Aggregator::over_leaves(peers, &ledger));
                Arc::new(LoopbackCodec::new(LeafName("root".into()), tree))
            }
            Hops::Grpc => {
                let (tree, placed) = grpc::cluster(&runtime, &opened, &ledger, &sent)?;
                sinks = placed;
                tree
            }
        };
        let root = Root::new(tree, budget);
        Ok(Self {
            runtime,
            placement: Arc::new(Placement::new(sinks, &ledger, root.catalog())),
            expected_rows: ledger,
            root,
            clock,
            sent,
            bodies: 0,
        })
    }

    /// The partials that leaves have sent over sockets, and their bytes.
    #[must_use]
    pub fn sent(&self) -> (u64, u64) {
        self.sent.counts()
    }

    /// Logs a body of JSON to a table. If `by_line`, every line is a separate batch.
    ///
    /// # Errors
    /// The engine's error.
    pub fn log(&mut self, table: &str, body: &str, by_line: bool) -> Result<Summary, String> {
        let bodies: Vec<&str> = if by_line { body.lines().collect() } else { vec![body] };
        let mut last = Summary::default();
        for body in bodies {
            let summary = self.log_body(table, body)?;
            last.accepted += summary.accepted;
            last.rejected_count += summary.rejected_count;
            last.rejected.extend(summary.rejected);
            last.warnings.extend(summary.warnings);
            last.time_from = summary.time_from;
        }
        Ok(last)
    }

    fn log_body(&mut self, table: &str, body: &str) -> Result<Summary, String> {
        let table = TableName::new(table).map_err(|error| error.to_string())?;
        self.bodies += 1;
        let batch_id = BatchId::new(&format!("body-{}", self.bodies)).ok_or("a batch id")?;
        let schema = self.root.known_table(table.as_str()).map(|table| Arc::clone(&table.schema));
        let settings = Settings {
            table,
            batch_id,
            time_column: None,
            table_time_column: schema.as_ref().map(|schema| schema.time_column.clone()),
            table_columns: Arc::default(),
            sets: HashSet::new(),
            age: AgePolicy::UNLIMITED,
            read: ReadOptions::default(),
        };
        let mut ingest = Ingest::new(settings, Format::Json, self.clock.now());
        let mut batches = ingest.push(body.as_bytes()).map_err(|error| error.to_string())?;
        let (rest, summary) = ingest.finish().map_err(|error| error.to_string())?;
        batches.extend(rest);
        for batch in batches {
            let taken = self.runtime.block_on(self.placement.accept(batch));
            taken.map_err(|error| error.to_string())?;
        }
        Ok(summary)
    }

    /// Drops a table. Returns its number of rows.
    ///
    /// # Errors
    /// The engine's error.
    pub fn drop_table(&self, table: &str) -> Result<u64, String> {
        let table = TableName::new(table).map_err(|error| error.to_string())?;
        let dropping = self.placement.apply(TableChange::Drop { table });
        self.runtime.block_on(dropping).map_err(|error| error.to_string())
    }

    /// Runs a query in SQL.
    ///
    /// # Errors
    /// The error, with the hint in parentheses.
    pub fn ask(&self, sql: &str) -> Result<Rows, String> {
        self.run(parse(sql), &TimeZone::UTC)
    }

    /// Runs a query in SQL, in a session that has this time zone.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub fn ask_in_zone(&self, sql: &str, zone: &TimeZone) -> Result<Rows, String> {
        self.run(parse(sql), zone)
    }

    /// Runs a query in JSON.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub fn ask_spec(&self, spec: &QuerySpec) -> Result<Rows, String> {
        self.run(parse_spec(spec, self.clock.now()), &TimeZone::UTC)
    }

    fn run(&self, parsed: Result<Parsed, SqlError>, zone: &TimeZone) -> Result<Rows, String> {
        let catalog = Tables(self.runtime.block_on(self.root.cluster_status()));
        let context = Context {
            catalog: &catalog,
            now: self.clock.now(),
            unknown_columns: UnknownColumns::Error,
        };
        let statement = parsed.and_then(|parsed| parsed.bind_in_zone(&context, zone));
        let statement = statement.map_err(|error| match &error.hint {
            Some(hint) => format!("{error} ({hint})"),
            None => error.to_string(),
        })?;
        match statement {
            Statement::Query { mut query, notes } => {
                // Answers are compared, however slow the machine is.
                query.deadline = Duration::from_millis(limits::QUERY_DEADLINE_MS_MAX);
                let answer = self.runtime.block_on(self.root.ask(*query));
                let answer = answer.map_err(|error| error.to_string())?;
                let coverage = &answer.coverage;
                if coverage.leaves_answered < coverage.leaves_asked {
                    return Err(format!("leaves are missing: {coverage:?}"));
                }
                let notes = notes.iter().map(|note| note.code.to_owned());
                let warnings = answer.warnings.iter().map(|warning| format!("{:?}", warning.code));
                Ok(Rows {
                    names: answer.columns.into_iter().map(|(name, _)| name).collect(),
                    rows: answer.rows.iter().map(|row| row.iter().cloned().collect()).collect(),
                    raw_counts: answer.raw_counts,
                    kinds: answer.kinds,
                    warnings: notes.chain(warnings).collect(),
                })
            }
            Statement::Values { columns, row } => Ok(Rows {
                names: columns.into_iter().map(|(name, _)| name).collect(),
                rows: vec![row],
                ..Rows::default()
            }),
            other => Err(format!("{other:?} is answered by the doors")),
        }
    }
}
