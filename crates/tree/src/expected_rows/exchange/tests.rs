use hadal_peer::WIRE_VERSION;
use hadal_types::{LeafState, MachineName};

use super::*;

const ALIVE: MemberState = MemberState::Announced(LeafState::Alive);

fn name(text: &str) -> LeafName {
    LeafName(text.into())
}

fn member(name: &str, role: MemberRole, started: u64, version: u64) -> Member {
    Member {
        name: self::name(name),
        role,
        machine: MachineName(name.into()),
        rack: String::new(),
        address: ([127, 0, 0, 1], 1).into(),
        url: String::new(),
        started,
        joined: 1,
        release: String::new(),
        wire_version: WIRE_VERSION,
        state: ALIVE,
        used_bytes: 0,
        free_bytes: 0,
        catalog_version: 0,
        expected_rows_version: version,
        has_definitions: false,
    }
}

fn door(name: &str, started: u64, version: u64) -> Member {
    member(name, MemberRole::Aggregator, started, version)
}

fn leaf(state: MemberState) -> Member {
    Member { state, ..member("a/leaf-0", MemberRole::Leaf, 1, 0) }
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Whom `pulls` ask, and from which version on.
fn asked(pulls: &[Pull]) -> Vec<(&str, u64)> {
    pulls.iter().map(|pull| (&*pull.member.0, pull.version)).collect()
}

/// The exchange of `m` with these others, after it asked each of them once, at second 1.
fn settled(members: &[Member]) -> Exchange {
    let mut exchange = Exchange::new(name("m"));
    exchange.see(members, seconds(1));
    for pull in exchange.due(seconds(1)) {
        let of = members.iter().find(|member| member.name == pull.member).expect("a member");
        exchange.ended(&pull, Some((of.started, of.expected_rows_version, false)), seconds(1));
    }
    assert!(exchange.due(seconds(1)).is_empty());
    exchange
}

#[test]
fn those_that_appear_are_asked_for_everything_at_once() {
    let mut exchange = Exchange::new(name("m"));
    assert_eq!((exchange.due(seconds(0)), exchange.wake_at()), (Vec::new(), TURN));
    let silent = Member { state: MemberState::Silent, ..door("c", 1, 9) };
    let members = [door("a", 7, 5), door("b", 8, 0), silent, door("m", 9, 9), leaf(ALIVE)];
    exchange.see(&members, seconds(1));
    assert_eq!(exchange.wake_at(), seconds(1));
    let pulls = exchange.due(seconds(1));
    assert_eq!(asked(&pulls), [("a", 0), ("b", 0)]);
    assert_eq!((pulls[0].started, pulls[0].epoch), (7, 0));
    assert!(exchange.due(seconds(1)).is_empty(), "both are under way");
    // The rest of a long answer is asked for at once, too.
    exchange.ended(&pulls[0], Some((70, 3, true)), seconds(2));
    let rest = exchange.due(seconds(2));
    assert_eq!((asked(&rest), rest[0].epoch), (vec![("a", 3)], 70));
    exchange.ended(&rest[0], Some((70, 5, false)), seconds(2));
    exchange.ended(&pulls[1], Some((80, 0, false)), seconds(2));
    assert_eq!((exchange.due(seconds(2)), exchange.wake_at()), (Vec::new(), TURN));
}

#[test]
fn those_with_news_are_asked_in_turn() {
    assert_eq!(EXPECTED_ROWS_EXCHANGE_SECONDS, 5, "the seconds of this test");
    let mut exchange = settled(&[door("a", 1, 5), door("p", 1, 5), door("z", 1, 5)]);
    let mut turns = Vec::new();
    let members = [door("a", 1, 6), door("p", 1, 5), door("z", 1, 7)];
    exchange.see(&members, seconds(2));
    for second in 2..30 {
        for pull in exchange.due(seconds(second)) {
            turns.push((second, pull.member.to_string()));
            // More has changed since, so there are news again.
            exchange.ended(&pull, Some((1, pull.version, false)), seconds(second));
        }
    }
    let name = |name: &str| name.to_owned();
    let expected = [(5, "z"), (10, "a"), (15, "z"), (20, "a"), (25, "z")];
    assert_eq!(turns, expected.map(|(second, text)| (second, name(text))));
}

#[test]
fn when_a_leaf_falls_silent_all_with_news_are_asked_at_once() {
    let doors = |version| [door("a", 1, version), door("b", 1, 5), door("c", 1, version)];
    let with = |version, state| [&doors(version)[..], &[leaf(state)]].concat();
    let mut exchange = settled(&with(5, ALIVE));
    exchange.see(&with(6, ALIVE), seconds(2));
    assert!(exchange.due(seconds(2)).is_empty());
    exchange.see(&with(7, MemberState::Silent), seconds(3));
    let pulls = exchange.due(seconds(3));
    assert_eq!(asked(&pulls), [("a", 5), ("c", 5)]);
    pulls.iter().for_each(|pull| exchange.ended(pull, Some((1, 7, false)), seconds(3)));
    exchange.see(&with(8, MemberState::Silent), seconds(4));
    assert!(exchange.due(seconds(4)).is_empty(), "it has been silent before");
    // An aggregator that comes back may have acknowledgements that nobody else got.
    let cut_off = Member { state: MemberState::Silent, ..door("b", 1, 5) };
    exchange.see(&[cut_off, door("a", 1, 7)], seconds(4));
    exchange.see(&[door("b", 1, 5), door("a", 1, 7)], seconds(4));
    assert_eq!(asked(&exchange.due(seconds(4))), [("b", 0)]);
}

#[test]
fn one_that_fails_is_asked_again_after_a_pause() {
    let mut exchange = Exchange::new(name("m"));
    exchange.see(&[door("a", 1, 5)], seconds(1));
    let pulls = exchange.due(seconds(1));
    exchange.ended(&pulls[0], None, seconds(2));
    let again = seconds(2) + PAUSE;
    assert_eq!((exchange.due(seconds(2)), exchange.wake_at()), (Vec::new(), again));
    assert_eq!(asked(&exchange.due(again)), [("a", 0)]);
}

#[test]
fn answers_of_an_earlier_process_are_ignored() {
    let mut exchange = Exchange::new(name("m"));
    exchange.see(&[door("a", 1, 5)], seconds(1));
    let pulls = exchange.due(seconds(1));
    exchange.see(&[door("a", 2, 1)], seconds(1));
    let of_new = exchange.due(seconds(1));
    assert_eq!((asked(&of_new), of_new[0].started), (vec![("a", 0)], 2));
    exchange.ended(&pulls[0], Some((1, 5, false)), seconds(1));
    exchange.ended(&of_new[0], Some((2, 0, false)), seconds(1));
    exchange.see(&[], seconds(2));
    exchange.ended(&of_new[0], None, seconds(2));
    exchange.see(&[door("a", 2, 1), leaf(MemberState::Silent)], seconds(2));
    assert_eq!(asked(&exchange.due(seconds(2))), [("a", 0)]);
}
