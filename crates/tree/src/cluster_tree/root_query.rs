//! A query of the root in one round of calls, or in several: each decides what the next asks for.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use hadal_aggregate::{Coverage, LeafOutcome, Partial};
use hadal_peer::{Plan, QueryWatch, WatchedPart};
use hadal_query::Query;
use hadal_types::LeafName;
use tokio::time::Instant as TokioInstant;

use super::directory::Directory;
use super::{newest_rows, planning, top_list};
use crate::fan_out::{Child, FanOut};

/// Leaves that are not asked, and why.
type Unasked = Vec<(LeafName, LeafOutcome)>;

/// What all rounds of one query share.
pub(super) struct RootQuery<'t> {
    pub(super) members: &'t Directory,
    pub(super) fan_out: &'t FanOut,
    /// Top lists that members were asked for once more.
    pub(super) second_rounds: &'t AtomicU64,
    pub(super) deadline: Instant,
    /// Watches the round whose answers are groups or rows of the query's answer.
    pub(super) watch: &'t QueryWatch,
}

impl RootQuery<'_> {
    /// Runs a query over the leaves of a plan; the others are missing.
    pub(super) async fn run(&self, plan: Plan, unasked: Unasked, query: &Arc<Query>) -> Partial {
        match newest_rows::first_round(query, &plan) {
            Some(times) => self.run_rows(plan, unasked, query, &Arc::new(times)).await,
            None => self.run_groups(plan, unasked, query).await,
        }
    }

    async fn ask(&self, plan: &Plan, unasked: Unasked, query: &Arc<Query>) -> Partial {
        self.ask_until(self.deadline, plan, unasked, query, &QueryWatch::default()).await
    }

    /// Asks the leaves of a plan, and adds the others to the coverage.
    async fn ask_until(
        &self,
        deadline: Instant,
        plan: &Plan,
        unasked: Unasked,
        query: &Arc<Query>,
        watch: &QueryWatch,
    ) -> Partial {
        // Of other aggregators it is not known yet whether they answer.
        let silent = self.members.unheard_aggregators(&[]);
        let _shown = show_unasked(self.fan_out, (&unasked, silent), query, watch);
        let calls = (self.members, self.fan_out);
        let mut partial = run_plan(calls, plan, query, deadline, watch).await;
        add_unasked(self.fan_out, &mut partial, unasked, query);
        let coverage = &mut partial.coverage;
        if coverage.leaves_answered < coverage.leaves_asked {
            // Through such an aggregator, the missing leaves may have taken rows that nobody here
            // has heard of: it may be cut off, or this one is.
            let unheard = self.members.unheard_aggregators(&coverage.leaves);
            coverage.unknown_losses = coverage.unknown_losses.saturating_add(unheard);
        }
        partial
    }

    /// Of a top list, members send only the largest groups at first; if that does not decide it,
    /// they are asked once more.
    async fn run_groups(&self, plan: Plan, unasked: Unasked, query: &Arc<Query>) -> Partial {
        let round = top_list::first_round(query);
        let first = self.ask_until(self.deadline, &plan, unasked, &round, self.watch).await;
        let Some(next) = top_list::next_round(&first, query) else { return first };
        self.second_rounds.fetch_add(1, Ordering::Relaxed);
        let (plan, unasked) = plan_of_answered(plan, &first);
        let second = self.ask(&plan, unasked, &next).await;
        let has_all = has_leaves_of(&second, &first);
        top_list::better(first, second, has_all, query)
    }

    /// Of raw rows, members send the times at first.
    async fn run_rows(
        &self,
        plan: Plan,
        unasked: Unasked,
        query: &Arc<Query>,
        times: &Arc<Query>,
    ) -> Partial {
        let (half, unwatched) = (half_way(self.deadline), QueryWatch::default());
        let first = self.ask_until(half, &plan, unasked, times, &unwatched).await;
        if !first.errors.is_empty() {
            return first;
        }
        let next = newest_rows::second_round(&first, query);
        let (plan, unasked) = plan_of_answered(plan, &first);
        if next == *query {
            let mut rows = self.ask_until(self.deadline, &plan, unasked, query, self.watch).await;
            rows.stats.merge(first.stats);
            return rows;
        }
        let half = half_way(self.deadline);
        let mut rows = self.ask_until(half, &plan, unasked, &next, self.watch).await;
        rows.stats.merge(first.stats);
        if !rows.errors.is_empty() || !newest_rows::lacks_rows(&rows) {
            return rows;
        }
        let (plan, unasked) = plan_of_answered(plan, &rows);
        let mut all = self.ask(&plan, unasked, query).await;
        if all.errors.is_empty() && !has_leaves_of(&all, &rows) {
            // These are the first rows of more leaves.
            rows.stats.merge(all.stats);
            return rows;
        }
        all.stats.merge(rows.stats);
        all
    }
}

/// The deadline of a round that another one follows. A leaf that hangs may take all of it, and the
/// others must then still have time for their answers.
fn half_way(deadline: Instant) -> Instant {
    let now = TokioInstant::now().into_std();
    deadline - deadline.saturating_duration_since(now) / 2
}

/// Whether all leaves that answered one round answered a later one, too.
fn has_leaves_of(later: &Partial, earlier: &Partial) -> bool {
    let answered: HashSet<&LeafName> = answered(later).collect();
    self::answered(earlier).all(|leaf| answered.contains(leaf))
}

fn answered(partial: &Partial) -> impl Iterator<Item = &LeafName> {
    let leaves = partial.coverage.leaves.iter();
    leaves.filter(|leaf| leaf.outcome == LeafOutcome::Answered).map(|leaf| &leaf.name)
}

/// Asks the leaves of a plan: those that the aggregator of its first machine asks itself, and other
/// aggregators.
pub(super) async fn run_plan(
    (members, fan_out): (&Directory, &FanOut),
    plan: &Plan,
    query: &Arc<Query>,
    deadline: Instant,
    watch: &QueryWatch,
) -> Partial {
    let split = planning::split(members, plan);
    let children: Vec<Arc<Child>> = split.children.into_iter().map(Arc::new).collect();
    let _shown = show_unasked(fan_out, (&split.unasked, 0), query, watch);
    let mut partial = fan_out.ask(&children, plan.rows_expected, query, deadline, watch).await;
    add_unasked(fan_out, &mut partial, split.unasked, query);
    partial
}

/// Shows the leaves that are not asked to the watch of the query, and other causes for which rows
/// may be missing.
fn show_unasked(
    fan_out: &FanOut,
    (unasked, unknown_losses): (&Unasked, u64),
    query: &Query,
    watch: &QueryWatch,
) -> WatchedPart {
    let part = watch.part();
    if part.is_watched() {
        let leaves = unasked.iter();
        let leaves = leaves.map(|(leaf, outcome)| fan_out.unanswered(leaf, *outcome, query, 0));
        let losses = Coverage { unknown_losses, ..Coverage::default() };
        part.show(&Partial::empty(query), leaves.chain([losses]).collect());
    }
    part
}

fn add_unasked(fan_out: &FanOut, partial: &mut Partial, unasked: Unasked, query: &Query) {
    for (leaf, outcome) in unasked {
        partial.coverage.merge(fan_out.unanswered(&leaf, outcome, query, 0));
    }
}

/// The plan of the next round: leaves that have not answered the last one are not waited for again.
/// Returns these, too.
fn plan_of_answered(mut plan: Plan, last: &Partial) -> (Plan, Unasked) {
    let answered: HashSet<&LeafName> = answered(last).collect();
    for machine in &mut plan.machines {
        machine.leaves.retain(|leaf| answered.contains(leaf));
    }
    let mut is_own = true;
    plan.machines.retain(|machine| std::mem::take(&mut is_own) || !machine.leaves.is_empty());
    let leaves = last.coverage.leaves.iter();
    let unanswered = leaves.filter(|leaf| leaf.outcome != LeafOutcome::Answered);
    (plan, unanswered.map(|leaf| (leaf.name.clone(), leaf.outcome)).collect())
}
