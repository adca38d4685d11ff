use hadal_types::{Decimal, Micros};

use super::*;

#[test]
fn values_have_one_number_each_however_they_are_asked_for() {
    let mut keys = KeyDictionary::default();
    let values = ["a", "", "1"].map(Value::string);
    let others = [Value::integer(1), Value::Null, Value::Bool(true), Value::set(["a"])];
    for (number, value) in (0..).zip(values.iter().chain(&others)) {
        assert_eq!(keys.number_of(value), number);
    }
    for (number, value) in (0..).zip(values.iter().chain(&others)) {
        assert_eq!((keys.number_of(value), &*keys.value(number)), (number, value));
    }
    for int in [1, 0, 7, 65_535, 65_536, -1, i64::MIN, i64::MAX, 1] {
        let number = keys.number_of_int(int);
        assert_eq!(keys.number_of(&Value::integer(int)), number);
        assert_eq!(*keys.value(number), Value::integer(int));
    }
    assert_eq!(keys.len(), 14);
    let one = keys.number_of_int(1);
    let (zero, null) = (keys.number_of_int(0), keys.number_of(&Value::Null));
    assert_eq!(keys.find_ints(0, 1, 3), Some(vec![zero, one, UNKNOWN, null]));
    let (largest, end) = (i64::try_from(SMALL).expect("small") - 1, keys.number_of_int(65_536));
    assert_eq!(keys.find_ints(largest, 1, 1), Some(vec![UNKNOWN, null]));
    assert_eq!(keys.find_ints(0, 65_536, 2), Some(vec![zero, end, null]));
    for (first, step, count) in [(-1, 1, 2), (largest, 1, 2), (0, 0, 2), (0, i64::MAX, 3)] {
        assert_eq!(keys.find_ints(first, step, count), None, "{first}, {step}, {count}");
    }
    assert_eq!(keys.number_of_string("1"), 2);
    assert_eq!(keys.number_of_string("new"), 14);
    assert_eq!(keys.number_of(&Value::string("new")), 14);
    assert_eq!(keys.len(), 15);
}

#[test]
fn ids_stand_for_strings_until_another_gives_them_out() {
    let mut keys = KeyDictionary::default();
    let texts = ["a", "b", "c", "d"];
    let asked = |keys: &mut KeyDictionary, source, ids: &[u32], from: usize| {
        let mut numbers = Vec::new();
        let text = |id: u32| texts[(id as usize + from) % 4];
        keys.numbers_of_ids(source, ids.iter().copied(), text, &mut numbers);
        numbers
    };
    assert_eq!(keys.find_ids(1, &[0, 1]), [UNKNOWN; 3]);
    assert_eq!(keys.number_of_string("c"), 0);
    assert_eq!(asked(&mut keys, 1, &[0, 2, 0], 0), [1, 0, 1]);
    assert_eq!(keys.number_of(&Value::Null), 2);
    assert_eq!(keys.find_ids(1, &[2, 1, 0, 9]), [0, UNKNOWN, 1, UNKNOWN, 2]);
    assert_eq!(keys.find_ids(2, &[2, 0]), [UNKNOWN, UNKNOWN, 2]);
    assert_eq!(asked(&mut keys, 2, &[1, 3], 1), [0, 1]);
    assert_eq!(keys.find_ids(2, &[1, 2, 3]), [0, UNKNOWN, 1, 2]);
    assert_eq!(keys.find_ids(1, &[2]), [UNKNOWN, 2]);
}

#[test]
fn many_values_of_any_kind_are_found_again() {
    let decimal =
        |mantissa: i64| Value::Number(Decimal::new(i128::from(mantissa), 1).expect("small").into());
    let values: Vec<Value> = (0..3_000i64)
        .flat_map(|at| [decimal(at), Value::Time(Micros(at)), Value::set([at.to_string()])])
        .collect();
    let mut keys = KeyDictionary::default();
    for _ in 0..2 {
        for (number, value) in (0..).zip(&values) {
            assert_eq!(keys.number_of(value), number, "{value}");
        }
    }
}

#[test]
fn lifted_texts_are_those_that_come_whole_whatever_comes_between() {
    let lines = |from: usize, to: usize| -> Vec<String> {
        (from..to).map(|at| format!("{} {}", ["ab", "cd"][at % 2], at / 2)).collect()
    };
    let others = [Value::Null, Value::integer(7), Value::Bool(true), Value::string("ab 3")];
    for (index, other) in others.iter().enumerate() {
        for (null_first, plain_step) in [(false, 0), (true, 0), (false, 1), (true, 1)] {
            let mut keys = KeyDictionary::default();
            let mut all: Vec<Value> = Vec::new();
            if null_first {
                keys.number_of(&Value::Null);
                all.push(Value::Null);
            }
            for (step, (from, to)) in [(0, 40), (20, 60), (50, 90)].into_iter().enumerate() {
                let texts = lines(from, to);
                let mut numbers = Vec::new();
                if step == plain_step {
                    keys.numbers_of_strings(texts.iter().map(String::as_str), &mut numbers);
                } else {
                    let lifted = CanonicalStrings::of(texts.iter().map(String::as_str));
                    keys.numbers_of_lifted(&lifted, 0..lifted.len(), &mut numbers);
                }
                for (text, number) in texts.iter().zip(numbers) {
                    let text = Value::string(text);
                    let at = all.iter().position(|other| *other == text).unwrap_or(all.len());
                    all.extend((at == all.len()).then_some(text));
                    assert_eq!(number as usize, at, "{index} {step} {plain_step}");
                }
                let is_new = !all.contains(other);
                all.extend(is_new.then(|| other.clone()));
                assert_eq!(all[keys.number_of(other) as usize], *other);
            }
            assert_eq!(keys.is_lifted(), matches!(other, Value::Null | Value::String(_)));
            keys.unlift();
            assert_eq!(keys.len(), all.len());
            for (number, value) in (0..).zip(&all) {
                assert_eq!(*keys.value(number), *value);
                assert_eq!(keys.number_of(value), number);
            }
        }
    }
}

#[test]
fn texts_are_kept_whole_where_templates_are_too_many() {
    let word = |at: usize| -> String {
        at.to_string().bytes().map(|digit| char::from(digit + 49)).collect()
    };
    let texts: Vec<String> = (0..70_000).map(word).collect();
    let mut keys = KeyDictionary::default();
    for part in texts.chunks(30_000) {
        let lifted = CanonicalStrings::of(part.iter().map(String::as_str));
        let mut numbers = Vec::new();
        keys.numbers_of_lifted(&lifted, 0..lifted.len(), &mut numbers);
    }
    assert!(keys.is_lifted_in_vain());
    keys.unlift();
    assert!(!keys.is_lifted() && !keys.is_lifted_in_vain());
    let mut numbers = Vec::new();
    keys.numbers_of_strings(texts.iter().map(String::as_str), &mut numbers);
    assert!(numbers.into_iter().eq((0..).take(texts.len())));
}

#[test]
fn values_of_one_kind_and_of_several_come_in_any_order() {
    let kinds: [&[Value]; 4] = [
        &[Value::integer(7), Value::integer(0)],
        &[Value::string(""), Value::string("7")],
        &[Value::Null],
        &[Value::Bool(false), Value::Bool(true)],
    ];
    for order in 0..24 {
        let mut left = vec![0, 1, 2, 3];
        let order = [4, 3, 2, 1].map(|count| left.remove(order % 24 / (24 / count) % count));
        let mut keys = KeyDictionary::default();
        let values: Vec<&Value> = order.iter().flat_map(|&kind| kinds[kind]).collect();
        let mut numbers: Vec<u32> = Vec::new();
        for (count, value) in (1..).zip(&values) {
            numbers.push(keys.number_of(value));
            // Also while all are of one kind.
            for (left, right) in (0..count).flat_map(|left| (0..count).map(move |r| (left, r))) {
                let (left_value, right_value) = (keys.value(left), keys.value(right));
                assert_eq!(
                    keys.cmp(left, right, SortDirection::ASCENDING),
                    left_value.cmp(&right_value)
                );
            }
        }
        assert!(numbers.iter().copied().eq((0..).take(values.len())), "{order:?}");
        for (number, value) in (0..).zip(&values) {
            assert_eq!(keys.number_of(value), number);
            assert_eq!(&*keys.value(number), *value);
            for (other, that) in (0..).zip(&values) {
                assert_eq!(
                    keys.cmp(number, other, SortDirection::ASCENDING),
                    value.cmp(that),
                    "{value}, {that}"
                );
            }
        }
        let mut many = Vec::new();
        keys.numbers_of_strings(["7", "new", ""].into_iter(), &mut many);
        keys.numbers_of_ints(&[0i64, 7, 8], &mut many);
        let values = [2, 3, 0, 1].map(|kind| kinds[kind / 2][kind % 2].clone());
        let [empty, seven, int, zero] = values.map(|value| keys.number_of(&value));
        assert_eq!(many, [seven, 7, empty, zero, int, 8]);
        assert_eq!(keys.len(), 9);
    }
}
