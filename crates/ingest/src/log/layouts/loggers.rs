//! The usual layouts of logging libraries.

use super::super::layout::Layout;

/// The layouts, the most specific first.
pub(in super::super) static LAYOUTS: [Layout; 20] = [
    Layout {
        name: "Spring Boot",
        pattern: concat!(
            r"^(?<time><iso>) +(?<level><level-word>) (?<pid>[0-9]+) --- (?:\[[^\]]*\] )?",
            r"\[ *(?<thread>[^\]]+?) *\] (?:\[[^\]]*\] )?(?<logger>[^ ]+) *: (?<rest>.*)$",
        ),
        ..Layout::STRONG
    },
    Layout {
        name: "logback or log4j",
        pattern: concat!(
            r"^(?<time><iso>|<day-first>) \[(?<thread>[^\]]+)\] (?<level><level-word>) +",
            r"(?<logger>[^ ]+)(?: -{1,2}|:) (?<rest>.*)$",
        ),
        ..Layout::STRONG
    },
    Layout {
        name: "logback or log4j",
        pattern: concat!(
            r"^(?<time><iso>|<day-first>) +(?<level><level-word>) +\[(?<thread>[^\]]+)\]",
            r" (?<logger>[A-Za-z_][^ ]*?)(?: -|:) (?<rest>.*)$",
        ),
        ..Layout::STRONG
    },
    Layout {
        name: "logback or log4j",
        pattern: concat!(
            r"^(?<time><iso>) +(?<level><level-word>) +(?<logger>[A-Za-z_][A-Za-z0-9_.$]*)",
            r" \[(?<thread>[^\]]+)\] (?<rest>.*)$",
        ),
        ..Layout::STRONG
    },
    Layout {
        name: "Tomcat",
        pattern: concat!(
            r"^(?<time><day-first>) (?<level><level-word>) \[(?<thread>[^\]]+)\]",
            r" (?<logger>[A-Za-z0-9_]+(?:\.[A-Za-z0-9_$<>]+)+) (?<rest>.*)$",
        ),
        ..Layout::STRONG
    },
    Layout {
        name: "Kafka",
        pattern: r"^\[(?<time><iso>)\] (?<level><level-word>) (?<rest>.*) \((?<logger>[A-Za-z0-9_.$]+)\)$",
        ..Layout::STRONG
    },
    Layout {
        name: "Python logging",
        pattern: r"^(?<time><iso>) - (?<logger>[^ ]+) - (?<level><level-word>) - (?<rest>.*)$",
        ..Layout::STRONG
    },
    Layout {
        name: "Python logging",
        pattern: r"^(?<time><iso>) - (?<level><level-word>) - (?<rest>.*)$",
        ..Layout::STRONG
    },
    Layout {
        name: "Flask",
        pattern: r"^\[(?<time><iso>)\] (?<level><level-word>) in (?<logger>[^ :]+): (?<rest>.*)$",
        ..Layout::STRONG
    },
    Layout {
        name: "Celery",
        pattern: r"^\[(?<time><iso>): (?<level><level-word>)/(?<thread>[^\]]+)\] (?<rest>.*)$",
        ..Layout::STRONG
    },
    Layout {
        name: "Airflow",
        pattern: r"^\[(?<time><iso>)\] \{(?<logger>[^}]+)\} (?<level><level-word>) - (?<rest>.*)$",
        ..Layout::STRONG
    },
    Layout {
        name: "loguru",
        pattern: r"^(?<time><iso>) \| (?<level>[A-Z]+) +\| (?<logger>[^ ]+) - (?<rest>.*)$",
        ..Layout::STRONG
    },
    Layout {
        name: "gunicorn",
        pattern: r"^\[(?<time><iso>)\] \[(?<pid>[0-9]+)\] \[(?<level><level-word>)\] (?<rest>.*)$",
        ..Layout::STRONG
    },
    Layout {
        name: "env_logger",
        pattern: r"^\[(?<time><iso>) +(?<level><level-word>) +(?<logger>[^ \]]+)\] (?<rest>.*)$",
        ..Layout::STRONG
    },
    Layout {
        name: "zap",
        pattern: concat!(
            r"^(?<time><iso>|<epoch>)\t(?<level><level-word>)\t",
            r"(?:(?:(?<logger>[^\t/:]+)\t)?[^\t]+:[0-9]+\t)?(?<rest>.*)$",
        ),
        ..Layout::STRONG
    },
    Layout {
        name: "Monolog",
        pattern: r"^\[(?<time><iso>)\] (?<logger>[^ .\]]+)\.(?<level><level-word>): (?<rest>.*)$",
        ..Layout::STRONG
    },
    Layout {
        name: "Ruby logger",
        pattern: concat!(
            r"^[DIWEFA], \[(?<time><iso>) #(?<pid>[0-9]+)\] +(?<level><level-word>|ANY) --",
            r" (?<logger>[^:]*): (?<rest>.*)$",
        ),
        ..Layout::STRONG
    },
    Layout {
        name: "klog",
        pattern: concat!(
            r"^(?<time>(?<level>[IWEF])[0-9]{4}(?:[0-9]{4})? [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{1,6})",
            r" +(?<thread>[0-9]+) (?<logger>[^ \]]+:[0-9]+)\] (?<rest>.*)$",
        ),
        ..Layout::STRONG
    },
    Layout {
        name: "java.util.logging",
        pattern: r"^(?<time><month-first>) (?<logger>[A-Za-z_$][^ ]*\.[^ ]+(?: [^ ]+)?)$",
        ..Layout::STRONG
    },
    Layout {
        name: "time, level and logger",
        pattern: concat!(
            r"^\[?(?<time><iso>)\]? +\[?(?<level><level-word>)\]? +",
            r"(?:[a-z_][A-Za-z0-9_]*(?:\{[^}]*\})?: ?)*?",
            r"(?<logger>[A-Za-z_][A-Za-z0-9_]*(?:(?:\.|::)[A-Za-z0-9_$]+)*)(?: -|:) (?<rest>.*)$",
        ),
        ..Layout::STRONG
    },
];

/// Layouts without a time.
pub(in super::super) static WEAK: [Layout; 1] = [Layout {
    name: "Python logging",
    pattern: r"^(?<level>CRITICAL|ERROR|WARNING|INFO|DEBUG|NOTSET):(?<logger>[^: ]+):(?<rest>.*)$",
    ..Layout::WEAK
}];
