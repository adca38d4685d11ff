//! Queries that require all rows.

use super::*;

const ALIVE: MemberState = MemberState::Announced(LeafState::Alive);

/// Two machines of one leaf each; the second leaf is silent.
fn cluster() -> Cluster {
    let silent =
        Machine { leaves: vec![(LeafAct::Answers, MemberState::Silent)], ..Machine::sound(0) };
    Cluster::new(&[Machine::sound(1), silent], 5)
}

fn complete_query() -> Arc<Query> {
    Arc::new(Query { require_complete: true, ..(*query()).clone() })
}

#[test]
fn an_incomplete_query_is_repeated_until_the_leaf_is_back() {
    paused(async {
        let cluster = cluster();
        let start = TokioInstant::now();
        let asking = cluster.trees[0].query(complete_query(), (start + DEADLINE).into_std());
        let back = async {
            sleep_until(start + Duration::from_secs(3)).await;
            cluster.trees[0].set_leaf_state(&cluster.leaves[1].0.name, ALIVE);
        };
        let (partial, ()) = tokio::join!(asking, back);
        assert_eq!(partial.coverage.rows_scanned, cluster.rows());
        let pause_max = Duration::from_millis(COMPLETE_PAUSE_MILLIS_MAX);
        assert!(start.elapsed() <= Duration::from_secs(3) + pause_max, "{:?}", start.elapsed());
    });
}

#[test]
fn a_query_that_stays_incomplete_ends_before_its_deadline() {
    paused(async {
        let cluster = cluster();
        let start = TokioInstant::now();
        let deadline = (start + DEADLINE).into_std();
        let partial = cluster.trees[0].query(complete_query(), deadline).await;
        assert_eq!(partial.coverage.leaves.len(), 2);
        assert!(partial.coverage.rows_scanned < partial.coverage.rows_expected);
        let pause_max = Duration::from_millis(COMPLETE_PAUSE_MILLIS_MAX);
        assert!(start.elapsed() <= DEADLINE && start.elapsed() + pause_max >= DEADLINE);
        let asked = cluster.leaves[0].0.asked.load(Ordering::Relaxed);
        let least = DEADLINE.as_millis() / pause_max.as_millis();
        let first_pauses = u128::from(COMPLETE_PAUSE_MILLIS_MAX / COMPLETE_PAUSE_MILLIS_MIN);
        assert!((least..=least + first_pauses).contains(&u128::from(asked)), "{asked}");
        // Other queries are not repeated.
        let (partial, time) = cluster.ask().await;
        assert!(partial.coverage.rows_scanned < partial.coverage.rows_expected);
        assert!(time < Duration::from_secs(1), "{time:?}");
    });
}
