//! Several clients at once, each with one query after the other (Scuba, VLDB 2013, section 5.4).

use std::sync::Arc;
use std::time::Instant;

use futures_util::future::try_join_all;
use hadal_tree::ClusterTree;
use serde_json::{Value, json};

use crate::cluster::ask;
use crate::error::Error;
use crate::question::Question;
use crate::samples::Samples;

/// Numbers of clients, as in the paper's figures 12 and 13.
pub(crate) const CLIENTS: [usize; 6] = [1, 2, 4, 8, 16, 32];

/// Asks with 1 to 32 clients; a line of results for each. The lines end where this machine cannot
/// play the cluster any more: connections count as broken when their pings wait for a second.
///
/// # Errors
/// When a task fails.
pub(crate) async fn measure(
    tree: &Arc<ClusterTree>,
    question: &Question,
    expected: (u64, usize),
    queries: usize,
) -> Result<Vec<Value>, Error> {
    let mut lines = Vec::new();
    for clients in CLIENTS {
        let start = Instant::now();
        let asked = (0..clients).map(|_| {
            let (tree, question) = (Arc::clone(tree), question.clone());
            async move {
                let asking =
                    tokio::spawn(async move { ask(&tree, &question, expected, queries).await });
                asking.await.map_err(std::io::Error::other)?.map(|(_, times)| times)
            }
        });
        let mut all = Samples::default();
        match try_join_all(asked).await {
            Ok(each) => each.into_iter().for_each(|times| all.extend(times)),
            Err(Error::Overloaded { why, .. }) => {
                lines.push(json!({ "clients": clients, "question": question.kind.name(),
                    "hours": question.hours, "overloaded": why }));
                break;
            }
            Err(error) => return Err(error),
        }
        let seconds = start.elapsed().as_secs_f64();
        // Each client's first three queries are not in the latencies, but took time.
        let rate = (clients * (queries + 3)) as f64 / seconds;
        lines.push(json!({
            "clients": clients, "question": question.kind.name(), "hours": question.hours,
            "queries_per_s": (rate * 10.0).round() / 10.0, "ms": all.summary()?,
        }));
    }
    Ok(lines)
}
