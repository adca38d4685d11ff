use hadal_types::time::parse_timestamp;

use super::*;

fn now() -> Micros {
    parse_timestamp("2026-11-27T08:00:00Z").expect("a time")
}

fn read(text: &str) -> Option<String> {
    TimeReader::new(now()).read(text).map(|time| time.to_string())
}

#[test]
fn programs_spell_times_in_many_ways() {
    for text in [
        "2000-10-10T20:55:36Z",
        "2000-10-10t20:55:36z",
        "2000-10-10 20:55:36",
        "2000-10-10T20:55:36+00:00",
        "2000-10-10 13:55:36 -0700",
        "2000-10-10 13:55:36 -07:00",
        "2000-10-10T13:55:36-07",
        "2000-10-10 20:55:36 UTC",
        "2000-10-10 20:55:36.000 GMT",
        "2000-10-10 22:55:36,000 CEST",
        "2000-10-10 20:55:36:000",
        "2000-10-10 13:55:36 America/Los_Angeles",
        "2000-10-10T13:55:36-07:00[America/Los_Angeles]",
        "2000-10-10T13:55:36[America/Los_Angeles]",
        "2000-10-10 22:55:36.0 +0200 CEST m=+0.500123",
        "2000-10-10 20:55:36 +0000 UTC",
        "2000-10-10 08:55:36 PM",
        "2000-10-10 1:55:36 PM PDT",
        "2000-10-10T205536Z",
        "2000/10/10 20:55:36",
        "2000.10.10 20:55:36",
        "20001010T205536Z",
        "20001010 205536",
        "20001010205536",
        "20001010205536000",
        "20001010205536.0Z",
        "20001010-",
        "10/Oct/2000:13:55:36 -0700",
        "[10/Oct/2000:13:55:36.000 -0700]",
        "Tue, 10 Oct 2000 13:55:36 -0700",
        "10 Oct 2000 13:55:36 -0700",
        "Tuesday, 10-Oct-00 20:55:36 GMT",
        "10-OCT-2000 20:55:36",
        "Tue Oct 10 20:55:36 2000",
        "Tue Oct 10 20:55:36.000000 2000",
        "Tue Oct 10 22:55:36 CEST 2000",
        "Tue Oct 10 08:55:36 PM UTC 2000",
        "Tue Oct 10 2000 22:55:36 GMT+0200 (Central European Summer Time)",
        "Tue 2000-10-10 20:55:36 UTC",
        "Oct 10, 2000 8:55:36 PM",
        "Oct 10, 2000, 8:55:36\u{202f}PM",
        "October 10, 2000 20:55:36",
        "2000 Oct 10 20:55:36",
        "10.10.2000 20:55:36",
        "10.10.2000, 20:55:36",
        "10.10.00 20:55:36",
        "10/10/2000 8:55:36 p.m.",
        "10/10/2000, 8:55:36 PM",
        "10-10-2000 20:55:36",
    ] {
        let expected =
            if text == "20001010-" { None } else { Some("2000-10-10T20:55:36Z".to_owned()) };
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn days_and_decimals_are_read() {
    for (text, expected) in [
        ("2026-11-21", "2026-11-21T00:00:00Z"),
        ("20261121", "2026-11-21T00:00:00Z"),
        ("21.11.2026", "2026-11-21T00:00:00Z"),
        ("21 November 2026", "2026-11-21T00:00:00Z"),
        ("2026-11-21 3:51", "2026-11-21T03:51:00Z"),
        ("2026-11-21T03", "2026-11-21T03:00:00Z"),
        ("2026-11-21 03:51:42.123456789", "2026-11-21T03:51:42.123456Z"),
        ("2026-11-21 03:51:42,5", "2026-11-21T03:51:42.5Z"),
        ("2026-11-21 12:00:00 AM", "2026-11-21T00:00:00Z"),
        ("11/21/2026 12:30 PM", "2026-11-21T12:30:00Z"),
        ("2016-12-31 23:59:60", "2016-12-31T23:59:59Z"),
        ("2026-07-01 12:00 Europe/Berlin", "2026-07-01T10:00:00Z"),
        ("2026-01-01 12:00 Europe/Berlin", "2026-01-01T11:00:00Z"),
    ] {
        assert_eq!(read(text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn what_cannot_be_understood_is_no_time() {
    for text in [
        "",
        "monday",
        "10:15",
        "10:15:00",
        "2026-11-21 03:51:42 IST",
        "2026-11-21 03:51:42 CST",
        "2026-11-21 03:51:42 Mars/Base",
        "2026-11-21 03:51:42 XYZ",
        "2026-11-21 25:00:00",
        "2026-11-21 13:00 PM",
        "2026-02-30",
        "10/Foo/2000:13:55:36",
        "été 2000-10-10",
        "21/11/2026",
        "1.2.3",
        "192.0.2.10",
        "2026-11-21 03:51:42 +0160",
        "2026-11",
        "1700000000",
        "12345",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
    let long = format!("2026-11-21{}", " ".repeat(300)) + "03:51";
    assert_eq!(read(&long), None);
}

#[test]
fn the_year_that_is_not_written_is_the_latest_that_is_not_in_the_future() {
    for (text, expected) in [
        ("Nov 27 03:51:42", "2026-11-27T03:51:42Z"),
        ("Nov 28 07:00:00", "2026-11-28T07:00:00Z"),
        ("Nov 29 03:51:42", "2025-11-29T03:51:42Z"),
        ("Jan 10 06:07:06", "2026-01-10T06:07:06Z"),
        ("Dec 31 23:59:59", "2025-12-31T23:59:59Z"),
        ("Feb 29 12:00:00", "2024-02-29T12:00:00Z"),
        ("1121 03:51:42.123456", "2026-11-21T03:51:42.123456Z"),
        ("11-21 03:51:42.123", "2026-11-21T03:51:42.123Z"),
        ("12 Nov 12:34:56.789", "2026-11-12T12:34:56.789Z"),
    ] {
        assert_eq!(read(text).as_deref(), Some(expected), "{text}");
    }
    let new_year = parse_timestamp("2026-12-31T23:59:00Z").expect("a time");
    let next = TimeReader::new(new_year).read("Jan  1 00:00:10").map(|time| time.to_string());
    assert_eq!(next.as_deref(), Some("2027-01-01T00:00:10Z"));
}

#[test]
fn the_order_of_day_and_month_is_one_for_all_texts() {
    let with = |order, text: &str| {
        let reader = TimeReader::new(now()).with_order(order);
        reader.read(text).map(|time| time.to_string()[..10].to_owned())
    };
    let day_first = Some(DayOrder::DayFirst);
    for (order, text, expected) in [
        (None, "03/04/2003", Some("2003-03-04")),
        (None, "27/03/2003", None),
        (day_first, "03/04/2003", Some("2003-04-03")),
        (day_first, "27/03/2003 14:55", Some("2003-03-27")),
        (day_first, "03/27/2003", None),
        (None, "03.04.2003", Some("2003-04-03")),
        (Some(DayOrder::MonthFirst), "03.04.2003", Some("2003-03-04")),
        (day_first, "2003-03-04", Some("2003-03-04")),
    ] {
        assert_eq!(with(order, text).as_deref(), expected, "{text}");
    }
    let orders = |text| TimeReader::new(now()).orders(text);
    assert_eq!(orders("27/03/2003"), Some((true, false)));
    assert_eq!(orders("03/27/03 2:55 PM"), Some((false, true)));
    assert_eq!(orders("03-04-2003"), Some((true, true)));
    assert_eq!((orders("2003-03-04"), orders("x")), (None, None));
}

#[test]
fn options_say_how_times_are_written() {
    let with = |format, zone, text: &str| {
        let reader = TimeReader::new(now()).with_options(format, zone);
        reader.read(text).map(|time| time.to_string())
    };
    for (format, zone, text, expected) in [
        (Some("%d.%m.%Y %H:%M"), None, "03.04.2003 15:20", "2003-04-03T15:20:00Z"),
        (Some("%H.%M.%S %Y/%d/%m"), None, "03.51.42 2026/21/11", "2026-11-21T03:51:42Z"),
        (Some("%Y-%m-%d %I:%M %p"), None, "2026-11-21 03:51 PM", "2026-11-21T15:51:00Z"),
        (Some("%Y-%m-%d %H:%M %Z"), None, "2026-11-21 03:51 PST", "2026-11-21T11:51:00Z"),
        (Some("%Y-%m-%d %H:%M %z"), None, "2026-11-21 03:51 -0800", "2026-11-21T11:51:00Z"),
        (Some("%d %b %H:%M"), None, "21 Nov 03:51", "2026-11-21T03:51:00Z"),
        (Some("%Y-%j"), None, "2026-325", "2026-11-21T00:00:00Z"),
        (Some("%s"), None, "1700000000", "2023-11-14T22:13:20Z"),
        (Some("day-first"), None, "03/04/2003", "2003-04-03T00:00:00Z"),
        (Some("month-first"), None, "03.04.2003", "2003-03-04T00:00:00Z"),
        (None, Some("Europe/Berlin"), "2026-07-01T12:00:00", "2026-07-01T10:00:00Z"),
        (None, Some("Europe/Berlin"), "2026-07-01T12:00:00Z", "2026-07-01T12:00:00Z"),
        (None, Some("+02:00"), "01.07.2026 12:00", "2026-07-01T10:00:00Z"),
        (Some("%d.%m.%Y %H:%M"), Some("-05:00"), "01.07.2026 12:00", "2026-07-01T17:00:00Z"),
        // Other columns may be ISO 8601.
        (Some("%d.%m.%Y"), None, "2026-11-21T03:51:42Z", "2026-11-21T03:51:42Z"),
    ] {
        assert_eq!(with(format, zone, text).as_deref(), Some(expected), "{text}");
    }
    assert_eq!(with(Some("%d.%m.%Y"), None, "03/04/2003"), None);
    for format in ["", "%H:%M", "%Q", "today", "%Y-%m", "%!"] {
        assert!(TimeFormat::of_option(format).is_err(), "{format}");
    }
}

#[test]
fn lines_begin_with_times() {
    let start = |line: &str| {
        let start = TimeReader::new(now()).read_start(line)?;
        Some((start.time.to_string(), line[start.end..].to_owned()))
    };
    for (line, time, rest) in [
        ("2026-11-21T03:51:42Z all is well", "2026-11-21T03:51:42Z", " all is well"),
        ("[2026-11-21 03:51:42] all", "2026-11-21T03:51:42Z", "] all"),
        ("2026-11-21 03:51:42,000 INFO all", "2026-11-21T03:51:42Z", " INFO all"),
        ("2026-02-17 22:02:49 +0100 [error]: #0", "2026-02-17T21:02:49Z", " [error]: #0"),
        ("2024-05-01 10:15:00.123 CEST [42] LOG:", "2024-05-01T08:15:00.123Z", " [42] LOG:"),
        ("Nov 21 03:51:42 host app: up", "2026-11-21T03:51:42Z", " host app: up"),
        ("21/Nov/2026:03:51:42 +0000] \"GET", "2026-11-21T03:51:42Z", "] \"GET"),
        ("11/21/2026 3:51:42 AM: up", "2026-11-21T03:51:42Z", ": up"),
        ("2026-11-21 begins", "2026-11-21T00:00:00Z", " begins"),
        ("Tue Nov 21 03:51:42 2023 up", "2023-11-21T03:51:42Z", " up"),
        ("Nov 21 03:51:42", "2026-11-21T03:51:42Z", ""),
    ] {
        assert_eq!(start(line), Some((time.to_owned(), rest.to_owned())), "{line}");
    }
    for line in [
        "",
        "all is well",
        "at 2026-11-21 03:51:42",
        "10.10.20.30 - - up",
        "1.10.2004 is a version",
        "2026-11-21 03:51:42 IST up",
        "2026-11-21 03:51:42.123 CST [1] up",
        "20261121x",
    ] {
        assert_eq!(start(line), None, "{line}");
    }
    let formatted = TimeReader::new(now()).with_options(Some("%H:%M:%S %d.%m.%Y"), None);
    let expected =
        LineTime { time: parse_timestamp("2026-11-21T03:51:42Z").expect("a time"), end: 20 };
    assert_eq!(formatted.read_start("[03:51:42 21.11.2026] up"), Some(expected));
}

#[test]
fn a_wording_tells_what_is_not_written() {
    let wording = |text| TimeReader::new(now()).wording(text).expect(text);
    for (text, strptime) in [
        ("27.03.2003 14:55", "%d.%m.%Y %H:%M"),
        ("3/27/2003 2:55 PM", "%m/%d/%Y %I:%M %p"),
        ("10/Oct/2000:13:55:36 -0700", "%d/%b/%Y:%H:%M:%S %z"),
        ("Tue Oct 10 13:55:36.5 2000", "%a %b %d %H:%M:%S%.f %Y"),
        ("2026-11-21T03:51:42,5Z", "%Y-%m-%dT%H:%M:%S,%f%Z"),
        ("20261121035142", "%Y%m%d%H%M%S"),
    ] {
        if !text.starts_with("3/27") {
            assert_eq!(wording(text).strptime, strptime, "{text}");
        }
        let reader = TimeReader::new(now()).with_options(Some(strptime), None);
        assert_eq!(reader.read(text), TimeReader::new(now()).read(text), "{strptime}");
    }
    assert!(wording("2026-11-21 03:51").is_iso && !wording("21.11.2026").is_iso);
    assert!(!wording("Nov 21 03:51:42").has_year && wording("2026-11-21 03:51 +01").has_zone);
}
