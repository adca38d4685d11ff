use super::*;

/// A leaf that started at `started`.
pub(crate) fn leaf(name: &str, started: u64) -> Member {
    Member {
        name: LeafName(name.into()),
        role: MemberRole::Leaf,
        machine: MachineName("m1".into()),
        rack: String::new(),
        address: "127.0.0.1:4283".parse().expect("an address"),
        url: String::new(),
        started,
        joined: 5,
        release: "0.1.0".to_owned(),
        wire_version: WIRE_VERSION,
        state: MemberState::Announced(LeafState::Alive),
        used_bytes: 1,
        free_bytes: u64::MAX,
        catalog_version: 3,
        expected_rows_version: 4,
        has_definitions: false,
    }
}

fn texts(member: &Member) -> (String, String) {
    (encode_static(member), encode_changing(member, Micros(-7)))
}

#[test]
fn a_member_is_read_as_it_was_announced() {
    let full = Member {
        role: MemberRole::Aggregator,
        rack: "row 7, rack ä".to_owned(),
        address: "[::1]:4282".parse().expect("an address"),
        url: "http://[::1]:4280".to_owned(),
        has_definitions: true,
        ..leaf("m1", u64::MAX)
    };
    for state in STATES {
        for member in [leaf("m1/leaf-0", 0), full.clone()] {
            let member = Member { state: MemberState::Announced(state), ..member };
            let (stays, changes) = texts(&member);
            assert_eq!(decode(&member.name, &stays, &changes), Ok((member, Micros(-7))));
        }
    }
}

#[test]
fn fields_of_a_later_release_are_ignored() {
    let member = leaf("m1/leaf-0", 9);
    let (stays, changes) = texts(&member);
    let read = decode(&member.name, &format!("{stays}\tmore"), &format!("{changes}\tmore\t"));
    assert_eq!(read, Ok((member, Micros(-7))));
}

#[test]
fn every_cut_or_altered_text_is_read_or_refused() {
    let member = leaf("m1/leaf-0", 9);
    let (stays, changes) = texts(&member);
    for end in 0..stays.len() {
        // Any outcome but a panic; a cut release is still a release.
        drop(decode(&member.name, &stays[..end], &changes));
    }
    for end in 0..changes.len() - 2 {
        let outcome = decode(&member.name, &stays, &changes[..end]);
        assert!(matches!(outcome, Err(Unreadable::Reason(_))), "{end}: {outcome:?}");
    }
    let reason = |stays: &str, changes: &str| match decode(&member.name, stays, changes) {
        Err(Unreadable::Reason(reason)) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason("1\tqueen", &changes), "its role is \"queen\"");
    assert_eq!(reason("", &changes), "its wire_version is \"\"");
    assert_eq!(reason("1\tleaf", &changes), "it has no machine");
    assert_eq!(reason("1\tleaf\t\t", &changes), "its machine is \"\"");
    assert_eq!(reason(&stays, "asleep"), "its state is \"asleep\"");
    assert_eq!(reason(&stays, "alive\t-1"), "its used_bytes is \"-1\"");
    assert_eq!(reason("1\n", &changes), "it has a control character");
}

#[test]
fn a_version_that_is_too_new_or_too_old_is_known_without_the_rest() {
    let name = LeafName("m1".into());
    let far = WIRE_VERSION + 2;
    let read = decode(&name, &format!("{far}\twhatever comes then"), "");
    assert_eq!(read, Err(Unreadable::WireVersion(far)));
    // The next version is a neighbour.
    let next = Member { wire_version: WIRE_VERSION + 1, ..leaf("m1", 0) };
    let (stays, changes) = texts(&next);
    assert_eq!(decode(&name, &stays, &changes), Ok((next, Micros(-7))));
}

#[test]
fn texts_have_a_largest_size() {
    let mut member = leaf("m1", 0);
    let rest = encode_static(&member).len();
    member.rack = "r".repeat(ANNOUNCEMENT_BYTES_MAX - rest);
    assert_eq!(check(&member), Ok(()));
    member.rack.push('r');
    let over = ANNOUNCEMENT_BYTES_MAX + 1;
    let expected = format!("it has {over} bytes, more than {ANNOUNCEMENT_BYTES_MAX}");
    assert_eq!(check(&member), Err(expected));
}

#[test]
fn a_member_that_others_could_not_read_is_refused_before_it_is_announced() {
    let named = |name: &str| check(&leaf(name, 0));
    assert_eq!(named(&"n".repeat(NAME_BYTES_MAX)), Ok(()));
    let expected = format!("its name has more than {NAME_BYTES_MAX} bytes");
    assert_eq!(named(&"n".repeat(NAME_BYTES_MAX + 1)), Err(expected));
    assert_eq!(named(""), Err("its name is empty".to_owned()));
    assert_eq!(named("a\tb"), Err("its name has a control character".to_owned()));
    let racked = Member { rack: "a\tb".to_owned(), ..leaf("m1", 0) };
    assert!(check(&racked).is_err());
    let racked = Member { rack: "a\nb".to_owned(), ..leaf("m1", 0) };
    assert_eq!(check(&racked), Err("it has a control character".to_owned()));
}
