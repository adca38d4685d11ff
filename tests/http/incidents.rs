//! Planted incidents: `POST /v1/explain` names the cause. The generator shares no code with the
//! ranking.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use hadal_tests::generate::{Random, derive};
use serde_json::{Value, json};

use crate::server::Server;

const SEED: u64 = 20_261_128;
const INCIDENTS: u64 = 50;
const ROWS: usize = 60_000;

/// What makes rows fail more often.
#[derive(Clone, Copy, Debug)]
enum Cause {
    /// The value of a column.
    Value,
    /// The values of two columns together.
    Pair,
    /// An element of a set.
    Member,
    /// A frame of a stack.
    Frame,
    /// A range of a number.
    Range,
}

const CAUSES: [Cause; 5] = [Cause::Value, Cause::Pair, Cause::Member, Cause::Frame, Cause::Range];

/// A row before it is known whether it fails.
struct Row {
    service: String,
    host: String,
    build: i64,
    region: String,
    zone: String,
    user: i64,
    tags: BTreeSet<String>,
    stack: Vec<String>,
    ms: f64,
    is_affected: bool,
}

struct Incident {
    cause: Cause,
    /// The share of affected rows, the rate of failures, and how many times as many fail.
    share: f64,
    rate: f64,
    effect: f64,
    is_sampled: bool,
}

/// A number from 0 to below 1.
fn share(random: &mut Random) -> f64 {
    random.below(1 << 24) as f64 / f64::from(1 << 24)
}

fn log_uniform(random: &mut Random, low: f64, high: f64) -> f64 {
    low * (high / low).powf(share(random))
}

impl Incident {
    /// Draws an incident that rows can tell from chance: failures above the expected ones are some
    /// standard errors.
    fn draw(index: u64, random: &mut Random) -> Self {
        loop {
            let incident = Self {
                cause: CAUSES[usize::try_from(index).expect("fits") % CAUSES.len()],
                share: log_uniform(random, 0.001, 0.2),
                rate: log_uniform(random, 0.01, 0.05),
                effect: log_uniform(random, 1.5, 20.0),
                is_sampled: index % 2 == 1,
            };
            let rows = ROWS as f64 * if incident.is_sampled { 0.5 } else { 1.0 };
            let expected = rows * incident.share * incident.rate;
            let errors = expected * (incident.effect - 1.0) / (expected * incident.effect).sqrt();
            if incident.rate * incident.effect < 0.9 && errors >= 7.0 && expected >= 2.0 {
                return incident;
            }
        }
    }

    fn row(&self, random: &mut Random) -> Row {
        // Small numbers are more frequent.
        let skewed = |random: &mut Random, end: usize| {
            let index = (share(random).powi(2) * end as f64).floor();
            #[expect(clippy::cast_possible_truncation, reason = "below the end")]
            #[expect(clippy::cast_sign_loss, reason = "not negative")]
            let index = index as usize;
            index
        };
        let mut row = Row {
            service: format!("service-{}", skewed(random, 8)),
            host: format!("host-{:02}", random.below(60)),
            build: random.between(4_810, 4_814),
            region: (*random.pick(&["eu", "us", "ap", "sa"])).to_owned(),
            zone: (*random.pick(&["z1", "z2", "z3", "z4", "z5"])).to_owned(),
            user: i64::try_from(skewed(random, 2_000)).expect("fits"),
            tags: (0..random.below(4)).map(|_| format!("tag-{}", random.below(12))).collect(),
            stack: (0..3 + random.below(5))
                .map(|depth| format!("frame-{depth}-{}", random.below(6)))
                .collect(),
            ms: -(1.0 - share(random)).ln() * 120.0,
            is_affected: false,
        };
        let is_affected = share(random) < self.share;
        match self.cause {
            Cause::Value if is_affected => row.host = "host-x".to_owned(),
            Cause::Member if is_affected => {
                row.tags.insert("tag-x".to_owned());
            }
            Cause::Frame if is_affected => {
                let at = random.below(row.stack.len());
                row.stack[at] = "frame-x".to_owned();
            }
            Cause::Pair => {
                // Each of the two is more frequent than both.
                let part = self.share.sqrt();
                let (first, second) = (share(random) < part, share(random) < part);
                if first {
                    row.build = 4_815;
                }
                if second {
                    row.region = "region-x".to_owned();
                }
                row.is_affected = first && second;
                return row;
            }
            Cause::Range => {
                // A share of all times, from the middle on.
                let place = 1.0 - (-row.ms / 120.0).exp();
                row.is_affected = (0.6..0.6 + self.share).contains(&place);
                return row;
            }
            _ => {}
        }
        row.is_affected = is_affected;
        row
    }

    /// Decoys: a zone that most affected rows have, and others, too; a build with slightly more
    /// failures; a user of few rows that all fail.
    fn fails(&self, row: &mut Row, random: &mut Random) -> bool {
        if row.is_affected && random.percent(90) || random.percent(15) {
            row.zone = "decoy".to_owned();
        }
        let rate = if row.is_affected { self.rate * self.effect } else { self.rate };
        let rate = if row.build == 4_811 { rate * 1.1 } else { rate };
        if random.below(30_000) == 0 {
            row.user = -1;
            return true;
        }
        share(random) < rate
    }
}

/// The rows as JSON lines, with the failures of `fails`. Of sampled ones each that does not fail is
/// kept one in four.
fn lines(rows: &[(Row, bool)], is_sampled: bool, random: &mut Random) -> String {
    let mut lines = String::new();
    for (row, fails) in rows {
        let rate = if is_sampled && !fails { 4 } else { 1 };
        if random.below(rate) > 0 {
            continue;
        }
        let Row { service, host, build, region, zone, user, tags, stack, ms, .. } = row;
        let line = json!({ "service": service, "host": host, "build": build, "region": region,
            "zone": zone, "user": user, "tags": tags, "stack": stack, "ms": (ms * 1e3).round() / 1e3,
            "failed": fails, "sample_rate": rate });
        let _ = writeln!(lines, "{line}");
    }
    lines
}

/// The place of the cause among the findings.
fn place(incident: &Incident, rows: &[(Row, bool)], findings: &Value) -> Option<usize> {
    let names: &[&str] = match incident.cause {
        Cause::Value => &["\"host\" = 'host-x'"],
        Cause::Member => &["includes_any(\"tags\", 'tag-x')"],
        Cause::Frame => &["includes_any(\"stack\", 'frame-x')"],
        Cause::Pair => &["\"build\" = 4815", "\"region\" = 'region-x'"],
        Cause::Range => &[],
    };
    let is_cause = |finding: &Value| {
        let conditions = finding["conditions"].as_array().expect("conditions");
        if !matches!(incident.cause, Cause::Range) {
            let sql: BTreeSet<&str> =
                conditions.iter().map(|of| of["sql"].as_str().expect("a text")).collect();
            return sql == names.iter().copied().collect();
        }
        let [condition] = conditions.as_slice() else { return false };
        let end = |name: &str, open: f64| condition[name].as_f64().unwrap_or(open);
        let ends = end("from", f64::MIN)..end("to", f64::MAX);
        // The range has most of the affected rows, and they are most of its rows.
        let count = |is: &dyn Fn(&Row) -> bool| rows.iter().filter(|(row, _)| is(row)).count();
        let both = count(&|row| row.is_affected && ends.contains(&row.ms));
        let either = count(&|row| row.is_affected || ends.contains(&row.ms));
        condition["column"] == "ms" && 2 * both >= either
    };
    findings.as_array().expect("findings").iter().position(is_cause)
}

fn findings(server: &Server, table: &str) -> Value {
    let query = json!({ "table": table, "compare": { "where": "failed" } });
    let body = json!({ "query": query }).to_string();
    server.request("POST", "/v1/explain").body(body).send().ok()["findings"].clone()
}

#[test]
fn causes_come_first_and_chance_is_no_finding() {
    let server = Server::start();
    let (mut first, mut among_three, mut claimed) = (0, 0, Vec::new());
    for index in 0..INCIDENTS {
        let mut random = Random::new(derive(SEED, index));
        let incident = Incident::draw(index, &mut random);
        let mut rows: Vec<(Row, bool)> = (0..ROWS)
            .map(|_| {
                let mut row = incident.row(&mut random);
                let fails = incident.fails(&mut row, &mut random);
                (row, fails)
            })
            .collect();
        let Incident { cause, share, rate, effect, is_sampled } = incident;
        let table = format!("incident_{index}");
        server.log(&table, &lines(&rows, is_sampled, &mut random));
        let listed = findings(&server, &table);
        let place = place(&incident, &rows, &listed);
        println!(
            "seed {SEED}, incident {index}: {cause:?} of {share:.4} of the rows, {effect:.1} x {rate:.3}: {place:?}"
        );
        if place != Some(0) {
            for finding in listed.as_array().expect("findings").iter().take(4) {
                println!("  {} {}", finding["score"], finding["conditions"]);
            }
        }
        first += u64::from(place == Some(0));
        among_three += u64::from(place.is_some_and(|place| place < 3));
        // The same rows, with the failures of others.
        for at in (1..rows.len()).rev() {
            let other = random.below(at + 1);
            let fails = rows[at].1;
            rows[at].1 = rows[other].1;
            rows[other].1 = fails;
        }
        let table = format!("shuffled_{index}");
        server.log(&table, &lines(&rows, is_sampled, &mut random));
        if findings(&server, &table) != json!([]) {
            claimed.push((index, findings(&server, &table)));
        }
        for table in [format!("incident_{index}"), table] {
            server.request("DELETE", &format!("/v1/tables/{table}")).send().ok();
        }
    }
    println!("{first} first and {among_three} among the first three, of {INCIDENTS}");
    assert!(first * 100 >= 90 * INCIDENTS, "{first} of {INCIDENTS} causes come first");
    assert!(among_three * 100 >= 98 * INCIDENTS, "{among_three} of {INCIDENTS} among three");
    assert!(claimed.is_empty(), "claimed by chance: {claimed:?}");
}
