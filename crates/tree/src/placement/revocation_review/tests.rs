use super::*;

const SECOND: Duration = Duration::from_secs(1);

struct Review {
    review: RevocationReview<u8, char>,
    now: Duration,
}

impl Review {
    fn new(away: Option<Duration>, may_hold: bool) -> Self {
        let now = 50 * SECOND;
        Self { review: RevocationReview::new(now, away, may_hold), now }
    }

    fn step(&mut self, event: Event<u8, char>) -> Vec<Effect<u8, char>> {
        let mut effects = Vec::new();
        self.review.step(self.now, event, &mut effects);
        effects.retain(|effect| !matches!(effect, Effect::WaitUntil(_)));
        effects
    }

    fn after(&mut self, time: Duration) -> Vec<Effect<u8, char>> {
        self.now += time;
        self.step(Event::Time)
    }

    fn read(&mut self, held: &[(char, &[u8])]) -> Vec<Effect<u8, char>> {
        let record = |(batch, instead): &(char, &[u8])| RevokedBatch {
            batch: *batch,
            instead: instead.to_vec(),
            is_held: true,
            is_elsewhere: false,
        };
        self.step(Event::Read(held.iter().map(record).collect()))
    }

    fn looked_up(&mut self, batch: char, leaf: u8, holds: Option<bool>) -> Vec<Effect<u8, char>> {
        self.step(Event::LookedUp { batch, leaf, holds })
    }

    fn serves(&self) -> bool {
        self.review.may_serve(self.now)
    }
}

fn look_up(batch: char, leaf: u8) -> Effect<u8, char> {
    Effect::LookUp { batch, leaf }
}

#[test]
fn a_copy_is_dropped_before_the_leaf_serves_if_another_leaf_holds_the_batch() {
    let mut back = Review::new(None, true);
    assert_eq!(back.after(Duration::ZERO), [Effect::Read]);
    let asked = [Effect::Refuse { batch: 'x' }, look_up('x', 3), look_up('x', 4)];
    assert_eq!(back.read(&[('x', &[3, 4])]), asked);
    assert_eq!(back.looked_up('x', 3, Some(false)), []);
    assert!(!back.serves());
    assert_eq!(back.looked_up('x', 4, Some(true)), [Effect::Drop { batch: 'x' }]);
    assert!(!back.serves());
    back.step(Event::Dropped { batch: 'x' });
    assert!(back.serves());
    assert_eq!(back.review.read_at(), Some(50 * SECOND));
}

#[test]
fn a_copy_is_kept_and_asked_for_again_while_nobody_else_holds_the_batch() {
    let mut back = Review::new(None, true);
    back.after(Duration::ZERO);
    back.read(&[('x', &[3, 4])]);
    back.looked_up('x', 3, None);
    assert_eq!(back.looked_up('x', 4, Some(false)), []);
    assert!(back.serves(), "the only copy");
    assert_eq!(back.after(SECOND), []);
    assert_eq!(
        back.after(SECOND * u32::try_from(REVOCATIONS_SECONDS).expect("small")),
        [Effect::Read]
    );
    back.read(&[('x', &[3])]);
    assert!(back.serves(), "it goes on meanwhile");
    assert_eq!(back.looked_up('x', 3, Some(true)), [Effect::Drop { batch: 'x' }]);
}

#[test]
fn batches_that_the_leaf_does_not_hold_are_refused() {
    let mut back = Review::new(None, true);
    back.after(Duration::ZERO);
    let absent = RevokedBatch { batch: 'y', instead: vec![3], is_held: false, is_elsewhere: true };
    assert_eq!(back.step(Event::Read(vec![absent])), [Effect::Refuse { batch: 'y' }]);
    assert!(back.serves());
}

#[test]
fn nobody_is_asked_for_a_batch_that_is_known_to_be_elsewhere() {
    let mut back = Review::new(None, true);
    back.after(Duration::ZERO);
    let moved = RevokedBatch { batch: 'x', instead: vec![3], is_held: true, is_elsewhere: true };
    let drop = [Effect::Refuse { batch: 'x' }, Effect::Drop { batch: 'x' }];
    assert_eq!(back.step(Event::Read(vec![moved])), drop);
    assert!(!back.serves());
    back.step(Event::Dropped { batch: 'x' });
    assert!(back.serves());
}

#[test]
fn without_the_records_only_a_leaf_that_cannot_have_revoked_batches_serves() {
    for (away, may_hold, serves) in [
        (None, true, false),
        (None, false, true),
        (Some(SECOND), true, true),
        (Some(FROZEN), true, false),
    ] {
        let mut back = Review::new(away, may_hold);
        back.after(Duration::ZERO);
        assert!(!back.serves(), "not before it tried");
        back.step(Event::NotRead);
        assert_eq!(back.serves(), serves, "{away:?} {may_hold}");
        assert_eq!(back.review.takes_retries(back.now), away == Some(SECOND));
        assert_eq!(back.after(READ_EVERY), [Effect::Read]);
    }
}

#[test]
fn a_leaf_that_was_frozen_reads_its_records_before_it_serves() {
    let mut leaf = Review::new(Some(SECOND), true);
    leaf.after(Duration::ZERO);
    leaf.read(&[]);
    assert!(leaf.serves());
    leaf.after(READ_EVERY);
    leaf.now += FROZEN;
    assert!(!leaf.serves(), "nor before it notices");
    assert!(!leaf.review.takes_retries(leaf.now));
    // What was read before it was frozen says nothing, whether it comes now or later.
    assert_eq!(leaf.read(&[]), [Effect::Abandon, Effect::Read]);
    assert!(!leaf.serves());
    leaf.step(Event::NotRead);
    assert!(!leaf.serves());
    leaf.after(READ_EVERY);
    leaf.read(&[]);
    assert!(leaf.serves());
}
