//! Top lists over many groups: a cluster answers as one process does, and sends little for it.

use std::fmt::Write;

use hadal_random::Random;
use hadal_tests::session::{Hops, Session};
use hadal_types::time::parse_timestamp;

use crate::NOW;

const USERS: f64 = 50_000.0;
const BODIES: u64 = 60;
const ROWS_PER_BODY: u64 = 2_000;

/// How many rows users have.
#[derive(Clone, Copy, Debug)]
enum Skew {
    /// The n-th user has 1/n of what the first has.
    Zipf,
    /// The n-th user has 1/√n of it.
    Root,
    /// All have about as many.
    Flat,
}

impl Skew {
    fn user(self, random: &mut Random) -> f64 {
        let unit = random.unit();
        let user = match self {
            Self::Zipf => USERS.powf(unit) - 1.0,
            Self::Root => USERS * unit * unit,
            Self::Flat => USERS * unit,
        };
        user.floor()
    }

    fn log(self, session: &mut Session) {
        let mut random = Random::new(39, 4);
        for _ in 0..BODIES {
            let mut body = String::new();
            for _ in 0..ROWS_PER_BODY {
                let (user, ms) = (self.user(&mut random), random.below(1_000));
                writeln!(body, r#"{{"user":"u{user}","ms":{ms},"time":"{NOW}"}}"#).expect("text");
            }
            session.log("hits", &body, false).expect("rows");
        }
    }
}

/// What leaves sent for a query: partials and bytes.
fn sent_for(cluster: &Session, one: &Session, sql: &str) -> (u64, u64) {
    let before = cluster.sent();
    let rows = cluster.ask(sql).expect("an answer");
    assert_eq!(rows, one.ask(sql).expect("an answer"), "{sql}");
    assert!(!rows.rows.is_empty(), "{sql}");
    let after = cluster.sent();
    (after.0 - before.0, after.1 - before.1)
}

/// Compares a cluster of `leaves` leaves with one process. The top users by rows are asked for in
/// this many rounds, and leaves send at most 1/`part` of the bytes of all groups.
fn check(leaves: u64, skew: Skew, rounds: u64, part: Option<u64>) {
    let now = parse_timestamp(NOW).expect("a time");
    let session = |leaves: u64, hops| {
        let mut session =
            Session::new(usize::try_from(leaves).expect("few"), hops, now).expect("a session");
        skew.log(&mut session);
        session
    };
    let (cluster, one) = (session(leaves, Hops::Grpc), session(1, Hops::InProcess));
    let top = |filter: &str, order: &str| {
        format!(
            "SELECT user, count(*) AS hits, sum(ms) AS total, avg(ms), max(ms) FROM hits \
             GROUP BY user {filter} ORDER BY {order} LIMIT 10 OFFSET 2"
        )
    };
    // HAVING needs all groups.
    let (_, all) = sent_for(&cluster, &one, &top("HAVING count(*) > 0", "hits DESC"));
    let (partials, bytes) = sent_for(&cluster, &one, &top("", "hits DESC"));
    assert_eq!(partials, rounds * leaves, "{skew:?}");
    assert!(part.is_none_or(|part| bytes * part <= all), "{bytes} of {all}, {skew:?}");
    for order in ["total DESC", "hits DESC, user DESC", "hits", "user"] {
        sent_for(&cluster, &one, &top("", order));
    }
}

#[test]
fn three_machines_send_few_groups_of_a_skewed_top_list() {
    check(6, Skew::Zipf, 1, Some(50));
}

#[test]
fn three_machines_send_all_groups_of_a_flat_top_list() {
    check(6, Skew::Flat, 2, None);
}

/// With more than eight leaves, two of the machines answer through their aggregators.
#[test]
fn three_machines_send_candidates_by_key_where_some_have_slack() {
    check(12, Skew::Root, 2, Some(20));
}
