//! Access logs of web servers, proxies and load balancers.

use super::super::layout::{Layout, Payload};

/// The layouts, the most specific first.
pub(in super::super) static LAYOUTS: [Layout; 8] = [
    Layout {
        name: "Traefik access log",
        pattern: concat!(
            r#"^(?<host>[^ ]+) (?<ident>[^ ]+) (?<user>[^ ]+) \[(?<time><clf>)\] "(?<request>(?:[^"\\]|\\.)*)""#,
            r#" (?<status>[0-9]{3}|-) (?<bytes>[0-9]+|-) "(?<referrer>(?:[^"\\]|\\.)*)" "(?<agent>(?:[^"\\]|\\.)*)""#,
            r#" (?<requests>[0-9]+) "(?<router>[^"]*)" "(?<server>[^"]*)" (?<duration_ms>[0-9]+)ms$"#,
        ),
        ..Layout::STRONG
    },
    Layout {
        name: "combined access log",
        pattern: concat!(
            r#"^(?:(?<vhost>[^ ]+:[0-9]+) )?(?<host>[^ ]+) (?<ident>[^ ]+) (?<user>[^\[]+?) \[(?<time><clf>)\]"#,
            r#" "(?<request>(?:[^"\\]|\\.)*)" (?<status>[0-9]{3}|-) (?<bytes>[0-9]+|-)"#,
            r#" "(?<referrer>(?:[^"\\]|\\.)*)" "(?<agent>(?:[^"\\]|\\.)*)"(?<extra> .*)?$"#,
        ),
        ..Layout::STRONG
    },
    Layout {
        name: "common log format",
        pattern: concat!(
            r#"^(?:(?<vhost>[^ ]+:[0-9]+) )?(?<host>[^ ]+) (?<ident>[^ ]+) (?<user>[^\[]+?) \[(?<time><clf>)\]"#,
            r#" "(?<request>(?:[^"\\]|\\.)*)" (?<status>[0-9]{3}|-) (?<bytes>[0-9]+|-)(?<extra> .*)?$"#,
        ),
        ..Layout::STRONG
    },
    Layout {
        name: "HAProxy HTTP log",
        pattern: concat!(
            r"^(?:(?:<syslog>|<iso>) [^ ]+ [^ ]+: )?(?<host>[0-9a-fA-F.:]+):[0-9]+ \[(?<time><clf>)\]",
            r" (?<frontend>[^ ]+) (?<backend>[^ /]+)/(?<server>[^ ]+)",
            r" (?:[+-]?[0-9]+/){3,4}(?<duration_ms>[+-]?[0-9]+) (?<status>-?[0-9]{1,3}) (?<bytes>\+?[0-9]+)",
            r#" [^ ]+ [^ ]+ (?<termination>[^ ]{4}) [0-9]+(?:/\+?[0-9]+){4} [0-9]+/[0-9]+"#,
            r#"(?: \{[^}]*\})* "(?<request>[^"]*)"?.*$"#,
        ),
        ..Layout::STRONG
    },
    Layout {
        name: "HAProxy TCP log",
        pattern: concat!(
            r"^(?:(?:<syslog>|<iso>) [^ ]+ [^ ]+: )?(?<host>[0-9a-fA-F.:]+):[0-9]+ \[(?<time><clf>)\]",
            r" (?<frontend>[^ ]+) (?<backend>[^ /]+)/(?<server>[^ ]+)",
            r" (?:[+-]?[0-9]+/){2}(?<duration_ms>[+-]?[0-9]+) (?<bytes>\+?[0-9]+) (?<termination>[^ ]{2})",
            r" [0-9]+(?:/\+?[0-9]+){4} [0-9]+/[0-9]+$",
        ),
        ..Layout::STRONG
    },
    Layout {
        name: "AWS load balancer access log",
        pattern: concat!(
            r"^(?:(?:http|https|h2|grpcs|ws|wss) )?(?<time><iso>) (?:app/|net/)?[^ ]+ [^ ]+:[0-9]+ [^ ]+",
            r" -?[0-9.]+ -?[0-9.]+ -?[0-9.]+ (?<status>[0-9]+|-) (?:[0-9]+|-) [0-9]+ [0-9]+",
            r#" "(?<request>(?:[^"\\]|\\.)*)"(?: "(?<agent>(?:[^"\\]|\\.)*)")?.*$"#,
        ),
        ..Layout::STRONG
    },
    Layout {
        name: "AWS S3 access log",
        pattern: concat!(
            r"^[0-9a-f]{64} [^ ]+ \[(?<time><clf>)\] [^ ]+ [^ ]+ [^ ]+ [A-Z]+\.[^ ]+ [^ ]+",
            r#" (?:"(?<request>(?:[^"\\]|\\.)*)"|-) (?<status>[0-9]+|-) [^ ]+ [^ ]+ [^ ]+ [^ ]+ [^ ]+"#,
            r#" (?:"(?<referrer>(?:[^"\\]|\\.)*)"|-) (?:"(?<agent>(?:[^"\\]|\\.)*)"|-).*$"#,
        ),
        ..Layout::STRONG
    },
    Layout {
        name: "Django access lines",
        pattern: r#"^\[(?<time><clf>)\] "(?<request>(?:[^"\\]|\\.)*)" (?<status>[0-9]{3}) (?<bytes>[0-9]+|-)$"#,
        ..Layout::STRONG
    },
];

/// Access lines without a time.
pub(in super::super) static WEAK: [Layout; 2] = [
    Layout {
        name: "uvicorn lines",
        pattern: concat!(
            r"^(?<level>TRACE|DEBUG|INFO|WARNING|ERROR|CRITICAL): +",
            r#"(?:(?<host>[0-9a-fA-F.:\[\]]+:[0-9]+) - "(?<request>[^"]*)" (?<status>[0-9]{3})\b)?(?<rest>.*)$"#,
        ),
        ..Layout::WEAK
    },
    Layout {
        name: "morgan lines",
        pattern: r"^(?<method>[A-Z]+) (?<path>/[^ ]*) (?<status>[0-9]{3}) (?<duration_ms>[0-9.]+) ms - (?<bytes>[0-9]+|-)$",
        payload: Payload::None,
        ..Layout::WEAK
    },
];
