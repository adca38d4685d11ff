//! Blocks that are subsampled by a key: each block keeps all of a key's rows or none, and all
//! blocks keep the same keys.

use std::collections::BTreeMap;

use hadal_types::{ColumnName, Micros, Value, Weight};

use super::model::{Row, assert_same, build, cold, name, read};
use super::sampling::{one_in, sampled, view, weight};
use crate::{Sampling, sample};

const fn by_key(key: &ColumnName, one_in: u16) -> Sampling<'_> {
    Sampling { one_in, key: Some(key), by: &[], least: 1 }
}

/// The rows kept of these bytes; none if no block results.
fn left(bytes: &[u8], sampling: &Sampling<'_>) -> Vec<Row> {
    let made = sample(&view(bytes), sampling).expect("samples");
    assert!(made.iter().all(|made| view(made).kept_one_in() == sampling.one_in));
    made.iter().flat_map(|made| read(made)).collect()
}

/// Visits of `users` users, one to five visits each, in turn.
fn visits(users: i64, user: impl Fn(i64) -> Value) -> Vec<Row> {
    let visits = (0..5).flat_map(|visit| (0..users).filter(move |user| user % 5 >= visit));
    let row = |(number, index): (i64, i64)| {
        let cells =
            [("user".to_owned(), user(index)), ("visit".to_owned(), Value::integer(number))];
        Row { time: Micros(number * 1_000_000), cells: cells.into() }
    };
    (0..).zip(visits).map(row).collect()
}

fn text(index: i64) -> Value {
    Value::string(&index.to_string())
}

/// The number of rows of each user.
fn counts(rows: &[Row]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for row in rows {
        let user = match &row.cells["user"] {
            Value::String(text) => text.to_string(),
            other => other.to_string(),
        };
        *counts.entry(user).or_default() += 1;
    }
    counts
}

/// Asserts that each user has all rows or none, and each row this weight; returns the kept users.
fn assert_whole(before: &[Row], after: &[Row], events: i64) -> BTreeMap<String, usize> {
    let (all, kept) = (counts(before), counts(after));
    assert!(kept.iter().all(|(user, rows)| all[user] == *rows), "users are whole");
    assert!(after.iter().all(|row| weight(row) == events * Weight::UNIT));
    kept
}

#[test]
fn all_rows_of_a_key_are_left_or_none_whichever_block_they_are_in() {
    let user = name("user");
    let rows = visits(3_000, text);
    let bytes = build(&rows, None);
    let kept = sampled(&bytes, &by_key(&user, 10));
    assert_eq!(sampled(&bytes, &by_key(&user, 10)), kept);
    let kept = assert_whole(&rows, &read(&kept), 10);
    // Expected: 300, with a standard deviation of 16.
    assert!((220..380).contains(&kept.len()), "{} users", kept.len());
    let numbers = visits(3_000, Value::integer);
    for part in [&rows[..4_000], &rows[4_000..], &numbers[..5_000], &numbers[5_000..]] {
        let mut expected = counts(part);
        expected.retain(|user, _| kept.contains_key(user));
        for bytes in [build(part, None), cold(&build(part, None))] {
            let left = left(&bytes, &by_key(&user, 10));
            assert_eq!(assert_whole(part, &left, 10), expected, "numbers are their texts");
        }
    }
}

#[test]
fn a_number_is_the_key_that_its_text_is() {
    let user = name("user");
    let left_of = |user_is: Value, one_in: u16| {
        left(&build(&visits(1, |_| user_is.clone()), None), &by_key(&user, one_in)).len()
    };
    for text in ["7", "-12.5", "0.000001", "12345678901234567890123456789012345678", "1e300"] {
        let number = Value::Number(text.parse().expect("a number"));
        for one_in in 2..12 {
            let kept = left_of(number.clone(), one_in);
            assert_eq!(kept, left_of(Value::string(text), one_in), "{text}, one in {one_in}");
        }
    }
}

#[test]
fn a_smaller_share_leaves_some_of_the_keys_of_the_larger_one() {
    let user = name("user");
    let bytes = build(&visits(3_000, text), None);
    let tenth = sampled(&bytes, &by_key(&user, 10));
    let hundredth = sampled(&tenth, &by_key(&user, 105));
    assert_eq!(view(&hundredth).kept_one_in(), 100);
    let hundredth = read(&hundredth);
    assert_whole(&read(&tenth), &hundredth, 100);
    assert_eq!(hundredth, left(&bytes, &by_key(&user, 100)), "as if it were the first time");
    let twentieth = read(&sampled(&tenth, &by_key(&user, 25)));
    assert_eq!(twentieth, left(&bytes, &by_key(&user, 20)));
}

#[test]
fn what_was_sampled_otherwise_before_is_thinned_by_what_it_is_weighed() {
    let rows = visits(3_000, text);
    let user = name("user");
    for before in [one_in(10), by_key(&name("visit"), 10)] {
        let tenth = sampled(&build(&rows, None), &before);
        let hundredth = left(&tenth, &by_key(&user, 100));
        let tenth = read(&tenth);
        let kept = assert_whole(&tenth, &hundredth, 100);
        // Expected: about 90 of 900 rows, with a standard deviation of 10. Dividing the hash by 100
        // would leave 9.
        assert!((50..130).contains(&hundredth.len()), "{} of {}", hundredth.len(), tenth.len());
        // Users that a single sampling of the block keeps are also kept here.
        let mut at_once = counts(&left(&build(&rows, None), &by_key(&user, 100)));
        at_once.retain(|user, _| counts(&tenth).contains_key(user));
        assert!(at_once.keys().all(|user| kept.contains_key(user)));
    }
}

#[test]
fn rows_without_a_key_are_sampled_one_by_one() {
    let user = name("user");
    let mut rows = visits(3_000, text);
    for (row, index) in rows.iter_mut().zip(0..) {
        match index % 4 {
            0 => drop(row.cells.remove("user")),
            1 => drop(row.cells.insert("user".to_owned(), Value::set(["a"]))),
            _ => {}
        }
    }
    let has_key = |row: &Row| matches!(row.cells.get("user"), Some(Value::String(_)));
    let (keyed, others): (Vec<Row>, Vec<Row>) = rows.iter().cloned().partition(has_key);
    let kept = left(&build(&rows, None), &by_key(&user, 10));
    let (kept, drawn): (Vec<Row>, Vec<Row>) = kept.into_iter().partition(has_key);
    assert_whole(&keyed, &kept, 10);
    let share = others.len() / 10;
    assert!((share..=share + 1).contains(&drawn.len()), "{} of {}", drawn.len(), others.len());
    assert!(drawn.iter().all(|row| weight(row) == 10 * Weight::UNIT));
    // Rows without a key may also be grouped.
    let by = [name("visit")];
    let grouped = Sampling { by: &by, ..by_key(&user, 10) };
    let kept = left(&build(&rows, None), &grouped);
    assert_eq!(kept.iter().filter(|row| !has_key(row)).count(), others.len(), "groups of one row");
    // If no row has a key, the result is that of sampling without one.
    let bytes = build(&rows, None);
    assert_eq!(sampled(&bytes, &by_key(&name("nowhere"), 10)), sampled(&bytes, &one_in(10)));
}

#[test]
fn a_block_of_one_key_is_left_whole_or_goes() {
    let user = name("user");
    let all = visits(50, text);
    let kept = counts(&left(&build(&all, None), &by_key(&user, 5)));
    assert!(!kept.is_empty() && kept.len() < 50);
    for user_name in counts(&all).keys() {
        let user_rows: Vec<Row> = all
            .iter()
            .filter(|row| row.cells["user"] == Value::string(user_name))
            .cloned()
            .collect();
        let mut expected = user_rows.clone();
        for row in &mut expected {
            row.cells.insert(Weight::COLUMN.to_owned(), Value::integer(5));
        }
        expected.retain(|_| kept.contains_key(user_name));
        assert_same(&left(&build(&user_rows, None), &by_key(&user, 5)), &expected);
    }
}

#[test]
fn sums_over_keys_and_their_rows_are_right_on_average() {
    const DRAWS: i64 = 100;
    let user = name("user");
    let (mut events, mut users) = (0, 0);
    for draw in 0..DRAWS {
        let rows = visits(400, |user| Value::string(&format!("user {user} of {draw}")));
        assert_eq!(rows.len(), 1_200);
        let kept = left(&build(&rows, None), &by_key(&user, 10));
        events += kept.iter().map(|row| weight(row) / Weight::UNIT).sum::<i64>();
        users += 10 * i64::try_from(counts(&kept).len()).expect("fits");
    }
    // The variance of one draw is the sum over users of (10 - 1) times the square of their rows: a
    // deviation of 199 events. The mean of 100 draws deviates by 20 events and 6 users. The test
    // allows four deviations.
    assert!((events / DRAWS - 1_200).abs() < 80, "{} events", events / DRAWS);
    assert!((users / DRAWS - 400).abs() < 24, "{} users", users / DRAWS);
}

#[test]
fn what_weighs_too_much_to_stand_for_more_stays_whatever_its_key() {
    let mut rows = visits(100, text);
    for (row, index) in rows.iter_mut().zip(0..) {
        let rate = if index % 2 == 0 { 1_000_000_000 } else { 1 };
        row.cells.insert(Weight::COLUMN.to_owned(), Value::integer(rate));
    }
    let kept = left(&build(&rows, None), &by_key(&name("user"), 10));
    let heavy = |row: &&Row| weight(row) == 1_000_000_000 * Weight::UNIT;
    assert_eq!(kept.iter().filter(heavy).count(), rows.len() / 2);
    assert!(kept.iter().filter(|row| !heavy(row)).all(|row| weight(row) == 10 * Weight::UNIT));
}
