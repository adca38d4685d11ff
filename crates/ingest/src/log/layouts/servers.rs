//! Logs of systems and servers: syslog, databases, web servers' error logs.

use super::super::layout::{Layout, Payload};

/// The layouts, the most specific first.
pub(in super::super) static LAYOUTS: [Layout; 10] = [
    Layout {
        name: "syslog (RFC 3164)",
        pattern: concat!(
            r"^<(?<pri>[0-9]{1,3})>(?<time><syslog>|<iso>) (?<host>[^ ]+) ",
            r"(?<app>[^ \[:]+)(?:\[(?<pid>[0-9]+)\])?: ?(?<rest>.*)$",
        ),
        payload: Payload::Inner,
        ..Layout::STRONG
    },
    Layout {
        name: "syslog",
        pattern: concat!(
            r"^(?<time><syslog>|[0-9]{4}-[0-9]{2}-[0-9]{2}T<clock>(?:Z|[+-][0-9]{2}:?[0-9]{2}))",
            r" (?<host>[^ ]+) (?<app>[^ \[:]+)(?:\[(?<pid>[0-9]+)\])?: (?<rest>.*)$",
        ),
        payload: Payload::Inner,
        ..Layout::STRONG
    },
    Layout {
        name: "nginx error log",
        pattern: concat!(
            r"^(?<time><iso>) \[(?<level><level-word>)\] (?<pid>[0-9]+)#(?<tid>[0-9]+): ",
            r"(?:\*(?<connection>[0-9]+) )?.*?",
            r#"(?:, client: (?<client>[^,]+), server: (?<server>[^,]*)(?:, request: "(?<request>[^"]*)")?"#,
            r#"(?:, (?:sub)?[a-z]*: "[^"]*")*)?$"#,
        ),
        payload: Payload::None,
        ..Layout::STRONG
    },
    Layout {
        name: "Apache error log",
        pattern: concat!(
            r"^\[(?<time><asctime>)\] \[(?:(?<module>[^:\]]*):)?(?<level>[a-z]+[0-9]?)\]",
            r"(?: \[pid (?<pid>[0-9]+)(?::tid (?<tid>[0-9]+))?\])?(?: \[client (?<client>[^\]]+)\])? (?<rest>.*)$",
        ),
        payload: Payload::None,
        ..Layout::STRONG
    },
    Layout {
        name: "PostgreSQL",
        pattern: concat!(
            r"^(?<time><iso>) \[(?<pid>[0-9]+)(?:-[0-9]+)?\]:? (?:(?:user=)?(?<user>[^ @,]+)[@,](?:db=)?(?<database>[^ ,]+)(?:,[^ ]*)? )?",
            r"(?<level>LOG|INFO|NOTICE|WARNING|ERROR|FATAL|PANIC|DEBUG[1-5]?|DETAIL|HINT|CONTEXT|STATEMENT|QUERY|LOCATION):  (?<rest>.*)$",
        ),
        payload: Payload::None,
        ..Layout::STRONG
    },
    Layout {
        name: "MySQL error log",
        pattern: r"^(?<time><iso>) +[0-9]+ \[(?<level>[A-Za-z]+)\] (?<rest>.*)$",
        payload: Payload::None,
        ..Layout::STRONG
    },
    Layout {
        name: "MySQL slow log",
        pattern: r"^# Time: (?<time>[0-9].*)$",
        payload: Payload::None,
        ..Layout::STRONG
    },
    Layout {
        name: "Redis",
        pattern: r"^(?<pid>[0-9]+):[MSCX] (?<time><day-first>) (?<level>[.*#-]) (?<rest>.*)$",
        payload: Payload::None,
        ..Layout::STRONG
    },
    Layout {
        name: "JVM log",
        pattern: concat!(
            r"^\[(?<time><iso>)\](?:\[[0-9.,]+m?s\])?\[(?<level><level-word>) *\]\[(?<logger>[^\]]+?) *\] ",
            r"(?<rest>.*)$",
        ),
        payload: Payload::None,
        ..Layout::STRONG
    },
    Layout {
        name: "Rails",
        pattern: r#"^Started (?<method>[A-Z]+) "(?<path>[^"]*)" for (?<host>[^ ]+) at (?<time><iso>)$"#,
        payload: Payload::None,
        ..Layout::STRONG
    },
];

/// Lines without a time of a calendar.
pub(in super::super) static WEAK: [Layout; 1] = [Layout {
    name: "dmesg",
    pattern: r"^(?:<(?<pri>[0-9]{1,3})>)?\[ *(?<uptime>[0-9]+\.[0-9]{6})\] (?<rest>.*)$",
    payload: Payload::None,
    ..Layout::WEAK
}];
