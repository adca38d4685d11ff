//! The truth files over a connection of PostgreSQL: each statement is prepared, described and run,
//! and its answer comes in the binary format.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use hadal_definitions::{Definitions, Location};
use hadal_frontend::{Backend, Frontend, FrontendConfig, MemoryUse};
use hadal_tests::session::{Hops, Session};
use hadal_types::time::parse_timestamp;
use hadal_types::value::HistogramBucket;
use hadal_types::{Clock, Micros, Number, Value};
use sqllogictest::{DB, DBOutput, DefaultColumnType, Normalizer, Runner};
use tokio::net::TcpListener;
use tokio_postgres::types::{FromSql, Type};
use tokio_postgres::{Client, NoTls};

use crate::{NOW, Refused, files, output_of, shown};

/// Statements that the door answers, and the query language refuses; and `#` of a text that a file
/// refuses for its length or its statements.
const ANSWERED: [&str; 3] = ["INSERT INTO t VALUES (1)", "DROP TABLE t", "SELECT 1; SELECT 2"];

struct Postgres {
    session: Session,
    client: Client,
}

impl Postgres {
    fn new(leaves: usize) -> Result<Self, Refused> {
        let now = parse_timestamp(NOW).expect("a time");
        let session = Session::new(leaves, Hops::InProcess, now).map_err(Refused)?;
        let client = session.runtime.block_on(connect(&session)).map_err(Refused)?;
        Ok(Self { session, client })
    }

    fn set(&self, sql: &str) -> Result<(), Refused> {
        let set = self.session.runtime.block_on(self.client.batch_execute(sql));
        set.map_err(|error| Refused(error.to_string()))
    }

    fn ask(&self, sql: &str) -> Result<DBOutput<DefaultColumnType>, Refused> {
        let asking = async {
            let statement = self.client.prepare(sql).await?;
            let rows = self.client.query(&statement, &[]).await?;
            let values = rows.iter().map(|row| {
                (0..row.len()).map(|index| row.get::<_, Binary>(index).0).collect::<Vec<Value>>()
            });
            Ok((statement.columns().len(), values.collect::<Vec<_>>()))
        };
        let asked: Result<_, tokio_postgres::Error> = self.session.runtime.block_on(asking);
        let (columns, rows) = asked.map_err(|error| match error.as_db_error() {
            Some(failure) => match failure.hint() {
                Some(hint) => Refused(format!("{} ({hint})", failure.message())),
                None => Refused(failure.message().to_owned()),
            },
            None => Refused(error.to_string()),
        })?;
        Ok(DBOutput::Rows {
            types: vec![DefaultColumnType::Text; columns],
            rows: rows.iter().map(|row| row.iter().map(shown).collect()).collect(),
        })
    }
}

/// Serves the session's tables to a client.
async fn connect(session: &Session) -> Result<Client, String> {
    let text = |error: &dyn Error| error.to_string();
    let definitions = Definitions::open(&Location::Memory).await.map_err(|error| text(&error))?;
    let backend = Backend {
        memory: Arc::new(MemoryUse::default),
        root: session.root.clone(),
        sink: Arc::clone(&session.placement) as _,
        admin: Arc::clone(&session.placement) as _,
        definitions: Arc::new(definitions),
        ledger: Arc::clone(&session.expected_rows),
        members: None,
        clock: Arc::clone(&session.clock) as Arc<dyn Clock>,
        damage: Arc::default(),
    };
    let config = FrontendConfig { keeps_self_tables: false, ..FrontendConfig::default() };
    let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| text(&error))?;
    let address = listener.local_addr().map_err(|error| text(&error))?;
    let frontend = Frontend::new(config, backend);
    let door = hadal_pgwire::Config::new(address);
    tokio::spawn(hadal_pgwire::serve(door, frontend, listener, std::future::pending()));
    let config = format!(
        "host=127.0.0.1 port={} user=slt options='-c statement_timeout=60s'",
        address.port()
    );
    let (client, connection) =
        tokio_postgres::connect(&config, NoTls).await.map_err(|error| text(&error))?;
    tokio::spawn(connection);
    Ok(client)
}

impl DB for Postgres {
    type Error = Refused;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, statement: &str) -> Result<DBOutput<DefaultColumnType>, Refused> {
        let (first, body) = statement.split_once('\n').unwrap_or((statement, ""));
        if let Some(table) = first.strip_prefix("LOG ") {
            let (table, by_line) = match table.strip_prefix("EACH ") {
                Some(table) => (table, true),
                None => (table, false),
            };
            let summary = self.session.log(table.trim(), body, by_line).map_err(Refused)?;
            return match summary.rejected.first() {
                Some(reject) => Err(Refused(format!("line {}: {}", reject.line, reject.reason))),
                None => Ok(DBOutput::StatementComplete(summary.accepted)),
            };
        }
        if let Some(table) = first.strip_prefix("HADAL DROP ") {
            return self
                .session
                .drop_table(table)
                .map(DBOutput::StatementComplete)
                .map_err(Refused);
        }
        if let Some(zone) = first.strip_prefix("IN ZONE ") {
            self.set(&format!("SET TIME ZONE '{zone}'"))?;
            let answer = self.ask(body);
            self.set("SET TIME ZONE 'UTC'")?;
            return answer;
        }
        if first.starts_with("SET ") {
            return self.set(statement).map(|()| DBOutput::StatementComplete(0));
        }
        if first == "JSON" {
            let spec = serde_json::from_str(body).map_err(|error| Refused(error.to_string()))?;
            return self.session.ask_spec(&spec).map(|answer| output_of(&answer)).map_err(Refused);
        }
        // The files say what the query language refuses.
        if ANSWERED.contains(&statement.trim()) {
            return self
                .session
                .ask(statement)
                .map(|_| DBOutput::StatementComplete(0))
                .map_err(Refused);
        }
        self.ask(statement)
    }
}

/// A value in the binary format, read by what PostgreSQL documents.
struct Binary(Value);

impl<'b> FromSql<'b> for Binary {
    fn from_sql(kind: &Type, bytes: &'b [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(match *kind {
            Type::BOOL => Value::Bool(bool::from_sql(kind, bytes)?),
            Type::INT8 => Value::integer(i64::from_sql(kind, bytes)?),
            Type::FLOAT8 => {
                let number = Number::from_f64(f64::from_sql(kind, bytes)?);
                Value::Number(number.ok_or("not finite")?)
            }
            Type::NUMERIC => Value::Number(numeric(bytes)?),
            Type::TIMESTAMPTZ => {
                const EPOCH: i64 = 946_684_800_000_000;
                Value::Time(Micros(i64::from_be_bytes(bytes.try_into()?) + EPOCH))
            }
            Type::TEXT_ARRAY => Value::vector(Vec::<String>::from_sql(kind, bytes)?),
            Type::JSON => histogram(std::str::from_utf8(bytes)?)?,
            _ => Value::string(std::str::from_utf8(bytes)?),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(Value::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// Groups of four decimal digits.
fn numeric(bytes: &[u8]) -> Result<Number, Box<dyn Error + Sync + Send>> {
    let words: Vec<i16> =
        bytes.chunks_exact(2).map(|pair| i16::from_be_bytes([pair[0], pair[1]])).collect();
    let [count, weight, sign, _, groups @ ..] = words.as_slice() else {
        return Err("a short numeric".into());
    };
    let digits: String = groups.iter().map(|group| format!("{group:04}")).collect();
    let exponent = (i32::from(*weight) + 1 - i32::from(*count)) * 4;
    let sign = if *sign == 0 { "" } else { "-" };
    Ok(format!("{sign}0{digits}e{exponent}").parse()?)
}

fn histogram(json: &str) -> Result<Value, Box<dyn Error + Sync + Send>> {
    let buckets: Vec<BTreeMap<String, serde_json::Number>> = serde_json::from_str(json)?;
    let bucket = |bucket: &BTreeMap<String, serde_json::Number>| {
        let edge = |name: &str| bucket[name].to_string().parse::<Number>();
        Ok(HistogramBucket { from: edge("from")?, to: edge("to")?, count: edge("count")? })
    };
    let buckets: Result<Vec<_>, Box<dyn Error + Sync + Send>> =
        buckets.iter().map(bucket).collect();
    Ok(Value::Histogram(buckets?.into()))
}

/// Compares answers; sets and vectors are both arrays.
fn is_same(normalizer: Normalizer, actual: &[Vec<String>], expected: &[String]) -> bool {
    let plain = |text: &String| normalizer(&text.replace('{', "[").replace('}', "]"));
    let actual: Vec<String> = actual.iter().map(|row| row.join(" ")).collect();
    let actual: Vec<String> = actual.iter().map(plain).collect();
    actual == expected.iter().map(plain).collect::<Vec<_>>()
}

#[test]
fn seven_leaves_over_postgresql() {
    run_all(&files("slt/files"));
}

/// The queries that Grafana, Metabase and Superset send.
#[test]
fn queries_of_tools() {
    run_all(&files("slt/tools"));
}

fn run_all(files: &[PathBuf]) {
    let mut failures = Vec::new();
    for file in files {
        let mut runner = Runner::new(|| async { Postgres::new(7) });
        runner.with_validator(is_same);
        if let Err(error) = runner.run_file(file) {
            failures.push(format!("{}: {error}", file.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
