use hadal_types::FixedClock;
use hadal_types::limits::{CLOCK_JUMP_SECONDS, CLOCK_PROVING_SECONDS};

use super::*;

const DAY: u32 = 86_400;

/// Begins and ends a pass; returns whether one was due, and the seconds that the clock jumped
/// ahead.
fn begin(expiry: &ExpirySchedule, clock: &FixedClock) -> Option<Option<i64>> {
    let begun = expiry.begin(clock).map(|(_, jumped)| jumped);
    expiry.end();
    begun
}

fn expiry_by(clock: &FixedClock) -> ExpirySchedule {
    ExpirySchedule::new(clock, Duration::from_secs(CLOCK_PROVING_SECONDS))
}

fn seconds(count: i64) -> Micros {
    Micros(count * Micros::SECOND)
}

#[test]
fn passes_come_every_fifteen_minutes_and_when_they_are_wanted() {
    let clock = FixedClock::new(seconds(1_000));
    let expiry = expiry_by(&clock);
    assert_eq!(EXPIRY_SECONDS, 900);
    assert_eq!(expiry.next_due(&clock), seconds(1_900));
    clock.pass(899);
    assert_eq!(begin(&expiry, &clock), None);
    clock.pass(1);
    assert_eq!(begin(&expiry, &clock), Some(None));
    assert_eq!(begin(&expiry, &clock), None, "that was it");
    assert_eq!(expiry.next_due(&clock), seconds(2_800));
    expiry.request();
    assert_eq!(expiry.next_due(&clock), seconds(1_900), "at once");
    assert_eq!(begin(&expiry, &clock), Some(None));
    assert_eq!(begin(&expiry, &clock), None);
    assert_eq!(expiry.next_due(&clock), seconds(2_800));
}

#[test]
fn a_pass_that_is_wanted_right_after_the_start_waits() {
    let clock = FixedClock::new(seconds(1_000));
    let expiry = expiry_by(&clock);
    expiry.request();
    clock.pass(899);
    assert_eq!(begin(&expiry, &clock), None);
    assert_eq!((expiry.next_due(&clock), expiry.trusted_now()), (seconds(1_900), None));
    clock.pass(1);
    assert_eq!(begin(&expiry, &clock), Some(None));
    assert_eq!(expiry.trusted_now(), Some(seconds(1_900)));
}

#[test]
fn while_a_pass_is_under_way_it_is_the_next() {
    let clock = FixedClock::new(seconds(1_000));
    let expiry = expiry_by(&clock);
    clock.pass(905);
    assert!(expiry.begin(&clock).is_some());
    clock.pass(60);
    assert_eq!(expiry.next_due(&clock), seconds(1_905), "what is due may not be gone yet");
    expiry.end();
    assert_eq!(expiry.next_due(&clock), seconds(2_805));
}

#[test]
fn a_clock_may_be_set_by_a_day_and_not_by_more() {
    for (ahead, trusted_now) in [(CLOCK_JUMP_SECONDS, true), (CLOCK_JUMP_SECONDS + 1, false)] {
        let clock = FixedClock::new(seconds(1_000));
        let expiry = expiry_by(&clock);
        clock.pass(900);
        clock.set(seconds(1_900 + ahead));
        let jumped = (!trusted_now).then_some(ahead);
        assert_eq!(begin(&expiry, &clock), Some(jumped));
        // A request soon after does not make the clock trusted.
        clock.pass(899);
        expiry.request();
        assert_eq!(begin(&expiry, &clock), Some(jumped));
        clock.pass(900);
        assert_eq!(begin(&expiry, &clock), Some(None), "by then it would have been set right");
    }
}

#[test]
fn a_clock_that_goes_back_is_no_jump_ahead() {
    let clock = FixedClock::new(seconds(10_000));
    let expiry = expiry_by(&clock);
    clock.pass(900);
    clock.set(seconds(0));
    assert_eq!(begin(&expiry, &clock), Some(None));
    // Time that really passed is no jump, however long it was.
    clock.pass(400 * DAY);
    assert_eq!(begin(&expiry, &clock), Some(None));
}
