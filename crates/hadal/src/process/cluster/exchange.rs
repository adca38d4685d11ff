//! Exchanges expected rows with the aggregators of other machines, and announces how many changes
//! of them this process has seen.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use hadal_membership::Membership;
use hadal_peer::BoxFuture;
use hadal_rpc::{Identity, pull_expected_rows};
use hadal_tree::{Exchange, ExpectedRows, Pull};
use hadal_types::limits::GOSSIP_MILLIS;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use crate::process::cluster::connections::Connections;

/// How often the number of changes is announced.
const ANNOUNCE: Duration = Duration::from_millis(GOSSIP_MILLIS);

/// The exchange of this process.
pub(crate) struct ExpectedRowsExchange {
    identity: Arc<Identity>,
    membership: Arc<Membership>,
    expected_rows: Arc<ExpectedRows>,
    connections: Connections,
}

/// A pull that has ended: the epoch and the version of the answer, and whether there is more.
type Ended = (Pull, Option<(u64, u64, bool)>);

impl ExpectedRowsExchange {
    pub(crate) fn new(
        identity: &Arc<Identity>,
        membership: &Arc<Membership>,
        expected_rows: &Arc<ExpectedRows>,
    ) -> Self {
        Self {
            identity: Arc::clone(identity),
            membership: Arc::clone(membership),
            expected_rows: Arc::clone(expected_rows),
            connections: Connections::new(Arc::clone(identity)),
        }
    }

    /// Exchanges for as long as this process is a member.
    pub(crate) async fn run(self) {
        let start = Instant::now();
        let mut changes = self.membership.changes();
        changes.mark_changed();
        let mut announcing = interval(ANNOUNCE);
        announcing.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut exchange = Exchange::new(self.identity.name().clone());
        let mut under_way: FuturesUnordered<BoxFuture<'static, Ended>> = FuturesUnordered::new();
        loop {
            tokio::select! {
                changed = changes.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let members = Arc::clone(&changes.borrow_and_update());
                    exchange.see(&members, start.elapsed());
                }
                Some((pull, answer)) = under_way.next() => {
                    exchange.ended(&pull, answer, start.elapsed());
                }
                () = sleep_until(start + exchange.wake_at()) => {}
                _ = announcing.tick() => {
                    let version = self.expected_rows.version();
                    self.membership.announce(|member| member.expected_rows_version = version);
                }
            }
            for pull in exchange.due(start.elapsed()) {
                under_way.push(self.pull(pull));
            }
        }
    }

    /// Asks one aggregator, and merges its answer.
    fn pull(&self, pull: Pull) -> BoxFuture<'static, Ended> {
        let members = self.membership.members();
        let member = members.iter().find(|member| member.name == pull.member);
        let connection = member.and_then(|member| self.connections.to(member));
        let expected_rows = Arc::clone(&self.expected_rows);
        Box::pin(async move {
            let Some(connection) = connection else { return (pull, None) };
            let Pull { member, epoch, version, .. } = &pull;
            let answer = match pull_expected_rows(&connection, member, *epoch, *version).await {
                Ok(delta) => spawn_blocking(move || {
                    expected_rows.merge(&delta);
                    (delta.epoch, delta.version, delta.has_more)
                })
                .await
                .ok(),
                // Crate `rpc` has logged it, and the aggregator is asked again.
                Err(_) => None,
            };
            (pull, answer)
        })
    }
}
