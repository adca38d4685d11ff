use super::*;

const SECOND: Duration = Duration::from_secs(1);
const RULES: PlacementRules = PlacementRules::CLUSTER;

/// Leaves by number, alive, each emptier than the one before.
fn leaves(count: u8) -> Vec<Candidate<u8>> {
    let leaf = |leaf: u8| Candidate {
        leaf,
        process: 1,
        state: CandidateState::Alive,
        free_bytes: Some(1_000),
        load: [0, u64::from(count - leaf), 0],
        history: History::Other,
    };
    (0..count).map(leaf).collect()
}

fn lookup(is_known: bool, refuses: bool) -> Lookup {
    Lookup { is_known, refuses, is_revoked: false, takes_batches: true, free_bytes: 1_000 }
}

fn silent(mut leaves: Vec<Candidate<u8>>, which: &[usize], since: u64) -> Vec<Candidate<u8>> {
    for index in which {
        leaves[*index].state = CandidateState::Silent { since: Duration::from_secs(since) };
    }
    leaves
}

/// A placement with its time.
struct Try {
    placement: BatchPlacement<u8>,
    now: Duration,
}

impl Try {
    fn new(first_try: bool) -> Self {
        let now = 100 * SECOND;
        Self { placement: BatchPlacement::new(RULES, now, first_try, 10), now }
    }

    fn step(&mut self, event: Event<u8>) -> Vec<Effect<u8>> {
        let mut effects = Vec::new();
        self.placement.step(self.now, event, &mut effects);
        effects
    }

    fn knows(&mut self, candidates: Vec<Candidate<u8>>) -> Vec<Effect<u8>> {
        self.step(Event::Candidates(candidates))
    }

    fn looked_up(&mut self, leaf: u8, is_known: bool) -> Vec<Effect<u8>> {
        self.step(Event::LookedUp { leaf, process: 1, lookup: lookup(is_known, !is_known) })
    }

    /// A later process does not have the batch, and was not asked to promise anything.
    fn lacks(&mut self, leaf: u8, process: u64) -> Vec<Effect<u8>> {
        self.step(Event::LookedUp { leaf, process, lookup: lookup(false, false) })
    }

    fn sent(&mut self, leaf: u8, outcome: SendOutcome) -> Vec<Effect<u8>> {
        self.step(Event::Sent { leaf, outcome })
    }

    fn after(&mut self, time: Duration) -> Vec<Effect<u8>> {
        self.now += time;
        self.step(Event::Time)
    }
}

fn send(leaf: u8) -> Vec<Effect<u8>> {
    vec![Effect::Send { leaf, process: 1, moves: false }]
}

fn moves(leaf: u8) -> Vec<Effect<u8>> {
    vec![Effect::Send { leaf, process: 1, moves: true }]
}

fn refuse(leaf: u8) -> Effect<u8> {
    Effect::LookUp { leaf, refuse: true }
}

fn revoke(leaf: u8, instead: u8) -> Vec<Effect<u8>> {
    vec![Effect::Revoke { leaf, instead }]
}

fn answered() -> Vec<Effect<u8>> {
    vec![Effect::Answer(Answer::OfLeaf)]
}

#[test]
fn a_first_try_goes_to_the_emptier_of_two_live_leaves_at_once() {
    assert_eq!(Try::new(true).knows(leaves(4)), send(1));
    assert_eq!(Try::new(true).knows(silent(leaves(4), &[1], 99)), send(2));
    assert_eq!(Try::new(true).knows(silent(leaves(5), &[0, 1], 99)), send(3), "two more");
    let mut busy = silent(leaves(4), &[3], 99);
    busy[0].state = CandidateState::Leaving;
    busy[1].state = CandidateState::Recovering;
    assert_eq!(Try::new(true).knows(busy.clone()), send(2));
    busy[2].free_bytes = Some(9);
    assert_eq!(Try::new(true).knows(busy), send(1), "a restarting leaf comes last");
    let mut of_two = Try::new(true);
    of_two.knows(leaves(2));
    assert_eq!(of_two.sent(1, SendOutcome::Declined), send(0));
    assert_eq!(of_two.sent(0, SendOutcome::Accepted), answered());
    assert_eq!(of_two.after(SECOND), [], "nothing comes after the answer");
}

#[test]
fn a_batch_stays_with_its_leaf_while_its_outcome_is_unknown() {
    let mut first = Try::new(true);
    first.knows(leaves(4));
    let pause = first.now + PAUSE;
    assert_eq!(first.sent(1, SendOutcome::Unknown), [Effect::WaitUntil(pause)]);
    assert_eq!(first.after(PAUSE), send(1));
    // That it takes none now says nothing about the first request.
    first.sent(1, SendOutcome::Declined);
    assert_eq!(first.after(PAUSE), send(1));
    first.sent(1, SendOutcome::Unknown);
    let back_until = 101 * SECOND + RULES.away;
    first.knows(silent(leaves(4), &[1], 101));
    assert_eq!(first.after(PAUSE), [Effect::WaitUntil(back_until)]);
    // A later process says whether it has the batch.
    let mut restarted = leaves(4);
    restarted[1].process = 2;
    assert_eq!(first.knows(restarted), [Effect::LookUp { leaf: 1, refuse: false }]);
    assert_eq!(first.lacks(1, 2), [Effect::Send { leaf: 1, process: 2, moves: false }]);
}

#[test]
fn a_batch_of_a_leaf_that_stays_away_is_revoked_there_first() {
    let mut first = Try::new(true);
    first.knows(leaves(4));
    first.sent(1, SendOutcome::Unknown);
    first.knows(silent(leaves(4), &[1], 99));
    assert_eq!(first.after(9 * SECOND), revoke(1, 3));
    assert_eq!(first.step(Event::NotRevoked { leaf: 1 }), [Effect::WaitUntil(first.now + PAUSE)]);
    assert_eq!(first.after(PAUSE), revoke(1, 3));
    assert_eq!(
        first.step(Event::Revoked { leaf: 1, instead: 2, is_old: false }),
        moves(2),
        "the first record counts"
    );
    let held = [vec![Effect::NoteHeld { leaf: 2 }], answered()].concat();
    assert_eq!(first.sent(2, SendOutcome::Accepted), held);
}

#[test]
fn a_retry_needs_a_promise_of_every_other_leaf_that_may_hold_the_batch() {
    let mut retry = Try::new(false);
    assert_eq!(retry.knows(leaves(4)), [refuse(0)]);
    assert_eq!(retry.looked_up(0, false), send(1));
    let mut held = Try::new(false);
    held.knows(leaves(4));
    assert_eq!(held.looked_up(0, true), send(0), "where it is");
    let mut grown = leaves(4);
    grown[3].history = History::Candidate;
    let mut wide = Try::new(false);
    assert_eq!(wide.knows(grown), [refuse(0)]);
    assert_eq!(wide.looked_up(0, false), [refuse(3)]);
    assert_eq!(wide.looked_up(3, true), send(3));
}

#[test]
fn a_leaf_of_unknown_history_is_asked_but_not_waited_for() {
    let mut unknown = leaves(4);
    unknown[2].history = History::Unknown;
    let mut wide = Try::new(false);
    wide.knows(unknown.clone());
    assert_eq!(wide.looked_up(0, false), [refuse(2)]);
    assert_eq!(wide.looked_up(2, false), send(1));
    let mut narrow = Try::new(false);
    let wide_leaves = unknown.clone();
    narrow.knows(silent(unknown, &[2], 99));
    assert_eq!(narrow.looked_up(0, false), send(1));
    let mut deaf = Try::new(false);
    deaf.knows(wide_leaves);
    deaf.looked_up(0, false);
    deaf.step(Event::NotLookedUp { leaf: 2 });
    assert_eq!(deaf.after(PAUSE), send(1), "once is enough");
}

#[test]
fn promises_are_asked_for_again_when_a_process_has_ended() {
    let mut retry = Try::new(false);
    retry.knows(leaves(4));
    retry.looked_up(0, false);
    retry.sent(1, SendOutcome::Unknown);
    let mut restarted = leaves(4);
    restarted[1].process = 2;
    retry.knows(restarted);
    let both = [refuse(0), Effect::LookUp { leaf: 1, refuse: false }];
    assert_eq!(retry.after(PAUSE), both);
    assert_eq!(retry.looked_up(0, false), []);
    assert_eq!(retry.lacks(1, 2), [Effect::Send { leaf: 1, process: 2, moves: false }]);
}

#[test]
fn two_senders_that_chose_different_leaves_both_move_on_to_the_recorded_one() {
    let mut retry = Try::new(false);
    retry.knows(leaves(4));
    retry.looked_up(0, false);
    // Leaf 1 had promised the other sender to refuse the batch, as leaf 0 promised this one.
    assert_eq!(retry.sent(1, SendOutcome::Declined), revoke(0, 1));
    assert_eq!(retry.step(Event::Revoked { leaf: 0, instead: 1, is_old: false }), moves(1));
    // It is full, or the batch is revoked there, too.
    assert_eq!(retry.sent(1, SendOutcome::Declined), revoke(1, 3));
    assert_eq!(retry.step(Event::Revoked { leaf: 1, instead: 2, is_old: false }), moves(2));
}

#[test]
fn a_retry_waits_for_a_silent_leaf_and_then_goes_to_a_later_one() {
    let mut retry = Try::new(false);
    assert_eq!(retry.knows(silent(leaves(4), &[0], 95)), [Effect::WaitUntil(105 * SECOND)]);
    assert_eq!(retry.after(5 * SECOND), revoke(0, 1));
    assert_eq!(retry.step(Event::Revoked { leaf: 0, instead: 1, is_old: false }), moves(1));
    // Leaf 0 could take it, but a batch moves only to later leaves.
    let mut second = Try::new(false);
    assert_eq!(second.knows(silent(leaves(4), &[1], 95)), [refuse(0)]);
    assert_eq!(second.looked_up(0, false), [Effect::WaitUntil(105 * SECOND)]);
    assert_eq!(second.after(5 * SECOND), revoke(0, 3));
    assert_eq!(second.step(Event::Revoked { leaf: 0, instead: 3, is_old: false }), revoke(1, 3));
    assert_eq!(second.step(Event::Revoked { leaf: 1, instead: 3, is_old: false }), moves(3));
}

#[test]
fn a_leaf_that_was_to_get_the_batch_instead_and_died_is_revoked_too() {
    let mut retry = Try::new(false);
    assert_eq!(retry.knows(silent(leaves(4), &[0, 2], 90)), revoke(0, 1));
    assert_eq!(retry.step(Event::Revoked { leaf: 0, instead: 2, is_old: false }), [refuse(1)]);
    assert_eq!(retry.looked_up(1, false), revoke(1, 3));
    assert_eq!(retry.step(Event::Revoked { leaf: 1, instead: 3, is_old: false }), revoke(2, 3));
    assert_eq!(retry.step(Event::Revoked { leaf: 2, instead: 3, is_old: false }), moves(3));
}

#[test]
fn a_leaf_at_which_the_batch_is_revoked_leads_to_the_record() {
    let mut retry = Try::new(false);
    retry.knows(leaves(4));
    let revoked = Lookup { is_revoked: true, ..lookup(false, true) };
    let event = Event::LookedUp { leaf: 0, process: 1, lookup: revoked };
    assert_eq!(retry.step(event), revoke(0, 1));
    assert_eq!(retry.step(Event::Revoked { leaf: 0, instead: 2, is_old: false }), [refuse(1)]);
    assert_eq!(retry.looked_up(1, false), revoke(1, 2));
    assert_eq!(retry.step(Event::Revoked { leaf: 1, instead: 2, is_old: false }), moves(2));
}

#[test]
fn a_client_is_told_to_come_back_when_patience_ends() {
    assert!(RULES.patience > RULES.away);
    let unavailable =
        |leaf, retry_after| vec![Effect::Answer(Answer::Unavailable { leaf, retry_after })];
    let mut alone = Try::new(false);
    let since = 100 + PLACEMENT_SECONDS;
    alone.knows(silent(leaves(4), &[0], since));
    assert_eq!(alone.after(RULES.patience), unavailable(Some(0), RULES.away));
    let mut none = Try::new(true);
    none.knows(silent(leaves(3), &[0, 1, 2], 0));
    assert_eq!(none.after(RULES.patience), unavailable(None, PAUSE));
    let mut doubted = Try::new(true);
    doubted.knows(leaves(3));
    doubted.sent(1, SendOutcome::Unknown);
    assert_eq!(doubted.after(RULES.patience), unavailable(Some(1), PAUSE));
    let mut deaf = Try::new(false);
    deaf.knows(leaves(3));
    deaf.step(Event::NotLookedUp { leaf: 0 });
    assert_eq!(deaf.after(RULES.patience), unavailable(Some(0), PAUSE));
    let mut last = Try::new(false);
    last.knows(silent(leaves(2), &[1], 0));
    last.looked_up(0, false);
    assert_eq!(last.after(RULES.patience), unavailable(None, PAUSE), "nothing comes after leaf 1");
}

#[test]
fn a_batch_that_moved_never_goes_to_an_earlier_leaf() {
    let mut retry = Try::new(false);
    let mut joined = leaves(4);
    // It joined after the batch had moved, and is empty.
    joined[0].load = [0, 0, 0];
    assert_eq!(retry.knows(joined), [refuse(1)]);
    let lookup = Lookup { is_revoked: true, ..lookup(false, true) };
    assert_eq!(retry.step(Event::LookedUp { leaf: 1, process: 1, lookup }), [refuse(0)]);
    assert_eq!(retry.looked_up(0, false), revoke(1, 3));
    assert_eq!(retry.step(Event::Revoked { leaf: 1, instead: 2, is_old: false }), revoke(0, 2));
    assert_eq!(retry.step(Event::Revoked { leaf: 0, instead: 2, is_old: false }), moves(2));
}

#[test]
fn a_batch_waits_for_a_leaf_that_may_have_settled_it() {
    let after_record = |is_old| {
        let mut retry = Try::new(false);
        assert_eq!(retry.knows(silent(leaves(5), &[0, 2], 80)), revoke(0, 1));
        assert_eq!(retry.step(Event::Revoked { leaf: 0, instead: 2, is_old }), [refuse(1)]);
        retry
    };
    assert_eq!(after_record(false).looked_up(1, false), revoke(1, 4), "it drops a copy later");
    let mut old = after_record(true);
    assert_eq!(old.looked_up(1, false), [Effect::WaitUntil(old.now + PAUSE)]);
    assert_eq!(old.knows(silent(leaves(5), &[0], 80)), revoke(1, 2), "it is back");
    assert_eq!(old.step(Event::Revoked { leaf: 1, instead: 2, is_old: false }), moves(2));
}

#[test]
fn a_leaf_that_may_have_the_batch_is_asked_while_another_does_not_answer() {
    let mut retry = Try::new(false);
    assert_eq!(retry.knows(leaves(4)), [refuse(0)]);
    assert_eq!(retry.step(Event::NotLookedUp { leaf: 0 }), [Effect::WaitUntil(retry.now + PAUSE)]);
    let asked = retry.after(PAUSE);
    assert!(asked.contains(&Effect::LookUp { leaf: 1, refuse: false }), "{asked:?}");
    assert_eq!(retry.looked_up(1, true), send(1), "it has it");
}

#[test]
fn a_batch_is_not_sent_again_to_a_leaf_at_which_it_is_revoked() {
    let mut first = Try::new(true);
    first.knows(leaves(4));
    first.sent(1, SendOutcome::Unknown);
    first.knows(silent(leaves(4), &[1], 99));
    assert_eq!(first.after(9 * SECOND), revoke(1, 3));
    // The leaf is back, and may not have read its records yet.
    first.knows(leaves(4));
    let revoked = Event::Revoked { leaf: 1, instead: 3, is_old: false };
    assert_eq!(first.step(revoked), [Effect::LookUp { leaf: 1, refuse: false }]);
    assert_eq!(first.looked_up(1, false), moves(3));
}

#[test]
fn a_leaf_that_gets_a_batch_instead_is_noted_as_its_holder_at_each_try() {
    let mut first = Try::new(true);
    first.knows(leaves(4));
    first.sent(1, SendOutcome::Unknown);
    first.knows(silent(leaves(4), &[1], 99));
    first.after(9 * SECOND);
    first.step(Event::Revoked { leaf: 1, instead: 3, is_old: false });
    first.sent(3, SendOutcome::Unknown);
    assert_eq!(first.after(PAUSE), send(3));
    let held = [vec![Effect::NoteHeld { leaf: 3 }], answered()].concat();
    assert_eq!(first.sent(3, SendOutcome::Accepted), held);
}
