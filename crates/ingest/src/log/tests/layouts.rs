//! A line or two of each layout, and the columns that they become.

use super::{layout, rows};

/// A text, the name of its layout, and its last row without the message.
const CASES: [(&str, &str, &str); 33] = [
    (
        "h:443 192.0.2.1 - - [21/Nov/2026:03:51:42 +0000] \"GET / HTTP/1.1\" 301 5 \"-\" \"curl\" \"192.0.2.9\"",
        "combined access log",
        r#"{"agent":"curl","bytes":5,"forwarded_for":"192.0.2.9","host":"192.0.2.1","method":"GET","path":"/","protocol":"HTTP/1.1","status":301,"time":"2026-11-21T03:51:42Z","vhost":"h:443"}"#,
    ),
    (
        "192.0.2.7 - - [21/Nov/2026:03:51:42 +0000] \"GET /api HTTP/1.1\" 200 12 \"-\" \"curl\" 17 \"web@docker\" \"http://a\" 30001ms",
        "Traefik access log",
        r#"{"agent":"curl","bytes":12,"duration":30.001,"host":"192.0.2.7","method":"GET","path":"/api","protocol":"HTTP/1.1","requests":17,"router":"web@docker","server":"http://a","status":200,"time":"2026-11-21T03:51:42Z"}"#,
    ),
    (
        "Nov 21 03:51:43 lb1 haproxy[1]: 192.0.2.11:33318 [21/Nov/2026:03:51:43.001] in api/s2 0/0/1/5003/5004 504 194 - - sH-- 2/2/1/1/0 0/0 {a} \"POST /o HTTP/1.1\"",
        "HAProxy HTTP log",
        r#"{"backend":"api","bytes":194,"duration":5.004,"frontend":"in","host":"192.0.2.11","method":"POST","path":"/o","protocol":"HTTP/1.1","server":"s2","status":504,"termination":"sH--","time":"2026-11-21T03:51:43.001Z"}"#,
    ),
    (
        "https 2026-11-21T03:51:42.1Z app/shop/5 192.0.2.1:2817 198.51.100.1:80 0.0 0.1 0.0 200 200 34 366 \"GET https://a/ HTTP/1.1\" \"curl\" X Y",
        "AWS load balancer access log",
        r#"{"agent":"curl","method":"GET","path":"https://a/","protocol":"HTTP/1.1","status":200,"time":"2026-11-21T03:51:42.1Z"}"#,
    ),
    (
        "[21/Nov/2026 03:51:42] \"GET /a HTTP/1.1\" 200 12",
        "Django access lines",
        r#"{"bytes":12,"method":"GET","path":"/a","protocol":"HTTP/1.1","status":200,"time":"2026-11-21T03:51:42Z"}"#,
    ),
    (
        "<34>Nov 21 03:51:42 h su[7]: failed",
        "syslog (RFC 3164)",
        r#"{"app":"su","facility":"auth","host":"h","level":"fatal","pid":7,"time":"2026-11-21T03:51:42Z"}"#,
    ),
    (
        "2026-11-21T03:51:42+01:00 web1 app: a=1 b=x",
        "syslog",
        r#"{"a":1,"app":"app","b":"x","host":"web1","time":"2026-11-21T02:51:42Z"}"#,
    ),
    (
        "2026/11/21 03:51:42 [crit] 31#32: *7 failed, client: 192.0.2.1, server: a.b, request: \"GET / HTTP/1.1\", host: \"a\"",
        "nginx error log",
        r#"{"client":"192.0.2.1","connection":7,"level":"fatal","method":"GET","path":"/","pid":31,"protocol":"HTTP/1.1","server":"a.b","tid":32,"time":"2026-11-21T03:51:42Z"}"#,
    ),
    (
        "[Sat Nov 21 03:51:42.5 2026] [core:error] [pid 8:tid 9] [client 192.0.2.7:1] AH1: x",
        "Apache error log",
        r#"{"client":"192.0.2.7:1","level":"error","module":"core","pid":8,"tid":9,"time":"2026-11-21T03:51:42.5Z"}"#,
    ),
    (
        "2026-11-21 03:51:42 UTC [7] ERROR:  no\n2026-11-21 03:51:42 UTC [7] STATEMENT:  SELECT\n\t1",
        "PostgreSQL",
        r#"{"level":"error","pid":7,"stack":["1"],"time":"2026-11-21T03:51:42Z"}"#,
    ),
    (
        "2026-11-21T03:51:42.1Z 8 [Warning] [MY-1] [Server] x",
        "MySQL error log",
        r#"{"level":"warn","time":"2026-11-21T03:51:42.1Z"}"#,
    ),
    (
        "# Time: 2026-11-21T03:51:42Z\n# User@Host: a[a] @  [192.0.2.1]  Id: 4\n# Query_time: 3.5  Rows_sent: 1\nSELECT 1;",
        "MySQL slow log",
        r##"{"host":"192.0.2.1","query_time":3.5,"rows_sent":1,"stack":["# User@Host: a[a] @  [192.0.2.1]  Id: 4","# Query_time: 3.5  Rows_sent: 1","SELECT 1;"],"time":"2026-11-21T03:51:42Z","user":"a"}"##,
    ),
    (
        "1:M 21 Nov 2026 03:51:42.5 # full",
        "Redis",
        r#"{"level":"warn","pid":1,"time":"2026-11-21T03:51:42.5Z"}"#,
    ),
    (
        "[2026-11-21T03:51:42.1+0000][warning][gc,alloc] x",
        "JVM log",
        r#"{"level":"warn","logger":"gc,alloc","time":"2026-11-21T03:51:42.1Z"}"#,
    ),
    (
        "Started GET \"/a\" for 192.0.2.1 at 2026-11-21 03:51:42 +0000\nProcessing by A#b as HTML\nCompleted 200 OK in 12ms (Views)",
        "Rails",
        r#"{"controller":"A#b","duration":0.012,"host":"192.0.2.1","method":"GET","path":"/a","stack":["Processing by A#b as HTML","Completed 200 OK in 12ms (Views)"],"status":200,"time":"2026-11-21T03:51:42Z"}"#,
    ),
    (
        "2026-11-21T03:51:42.1+01:00  WARN 41 --- [shop] [     main] c.e.A.[/]   : x",
        "Spring Boot",
        r#"{"level":"warn","logger":"c.e.A.[/]","pid":41,"thread":"main","time":"2026-11-21T02:51:42.1Z"}"#,
    ),
    (
        "21-Nov-2026 03:51:42.1 SEVERE [main] a.b.C.d failed",
        "Tomcat",
        r#"{"level":"error","logger":"a.b.C.d","thread":"main","time":"2026-11-21T03:51:42.1Z"}"#,
    ),
    (
        "[2026-11-21 03:51:42,1] INFO [x] up (kafka.server.A)",
        "Kafka",
        r#"{"level":"info","logger":"kafka.server.A","time":"2026-11-21T03:51:42.1Z"}"#,
    ),
    (
        "[2026-11-21 03:51:42,1] ERROR in app: no",
        "Flask",
        r#"{"level":"error","logger":"app","time":"2026-11-21T03:51:42.1Z"}"#,
    ),
    (
        "[2026-11-21 03:51:42,1: WARNING/Main-1] x",
        "Celery",
        r#"{"level":"warn","thread":"Main-1","time":"2026-11-21T03:51:42.1Z"}"#,
    ),
    (
        "[2026-11-21T03:51:42.1+0000] {a.py:7} INFO - x",
        "Airflow",
        r#"{"level":"info","logger":"a.py:7","time":"2026-11-21T03:51:42.1Z"}"#,
    ),
    (
        "2026-11-21 03:51:42.1 | SUCCESS  | a.b:c:9 - x",
        "loguru",
        r#"{"level":"info","logger":"a.b:c:9","time":"2026-11-21T03:51:42.1Z"}"#,
    ),
    (
        "[2026-11-21 04:51:42 +0100] [7] [CRITICAL] x",
        "gunicorn",
        r#"{"level":"fatal","pid":7,"time":"2026-11-21T03:51:42Z"}"#,
    ),
    (
        "[2026-11-21T03:51:42Z WARN  a::b] x",
        "env_logger",
        r#"{"level":"warn","logger":"a::b","time":"2026-11-21T03:51:42Z"}"#,
    ),
    (
        "2026-11-21T03:51:42Z\tERROR\tshop\ta/b.go:7\tno\t{\"n\": 7}",
        "zap",
        r#"{"level":"error","logger":"shop","n":7,"time":"2026-11-21T03:51:42Z"}"#,
    ),
    (
        "[2026-11-21T03:51:42+01:00] app.CRITICAL: x {\"n\":1} {\"u\":\"v\"}",
        "Monolog",
        r#"{"level":"fatal","logger":"app","n":1,"time":"2026-11-21T02:51:42Z","u":"v"}"#,
    ),
    (
        "E, [2026-11-21T03:51:42.1 #41] ERROR -- shop: x",
        "Ruby logger",
        r#"{"level":"error","logger":"shop","pid":41,"time":"2026-11-21T03:51:42.1Z"}"#,
    ),
    (
        "W1121 03:51:42.000001   12345 a.go:7] x",
        "klog",
        r#"{"level":"warn","logger":"a.go:7","thread":"12345","time":"2026-11-21T03:51:42.000001Z"}"#,
    ),
    (
        "Nov 21, 2026 3:51:42 PM a.B c\nSEVERE: no\njava.io.IOException: x\n\tat a.B.c(B.java:1)",
        "java.util.logging",
        r#"{"level":"error","logger":"a.B c","stack":["java.io.IOException: x","at a.B.c(B.java:1)"],"time":"2026-11-21T15:51:42Z"}"#,
    ),
    (
        "\u{1b}[2m2026-11-21T03:51:42.1Z\u{1b}[0m \u{1b}[33m WARN\u{1b}[0m a::b: x",
        "time, level and logger",
        r#"{"level":"warn","logger":"a::b","time":"2026-11-21T03:51:42.1Z"}"#,
    ),
    (
        "INFO:     192.0.2.1:5 - \"GET /a HTTP/1.1\" 200 OK",
        "uvicorn lines",
        r#"{"host":"192.0.2.1:5","level":"info","method":"GET","path":"/a","protocol":"HTTP/1.1","status":200}"#,
    ),
    ("WARNING:a.b:disk is full", "Python logging", r#"{"level":"warn","logger":"a.b"}"#),
    (
        "#Fields: date time cs-method sc-status\n2026-11-21 03:51:42 GET 200",
        "W3C extended log",
        r#"{"cs-method":"GET","sc-status":200,"time":"2026-11-21T03:51:42Z"}"#,
    ),
];

#[test]
fn lines_of_each_layout_have_their_columns() {
    let mut wrong = Vec::new();
    for (text, name, row) in CASES {
        let all = rows(text);
        let last = all.last().map(String::as_str).unwrap_or_default();
        if layout(text) != Some(name) || last != row {
            wrong.push(format!("{text}\n  {:?}\n  {last}\n  {row}", layout(text)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lines_with_a_time_have_a_level() {
    for (text, row) in [
        (
            "2026-11-21 03:51:42 +0100 [error]: #0 no",
            r#"{"level":"error","time":"2026-11-21T02:51:42Z"}"#,
        ),
        ("2026/11/21 03:51:42 panic serving", r#"{"time":"2026-11-21T03:51:42Z"}"#),
        ("[21-Nov-2026 03:51:42] NOTICE: up", r#"{"level":"info","time":"2026-11-21T03:51:42Z"}"#),
        ("WARN [2026-11-21 03:51:42] x", r#"{"level":"warn","time":"2026-11-21T03:51:42Z"}"#),
        ("21.11.2026 03:51:42 x", r#"{"time":"2026-11-21T03:51:42Z"}"#),
        (
            "2026-11-21T03:51:42Z info: x {\"a\":1}",
            r#"{"a":1,"level":"info","time":"2026-11-21T03:51:42Z"}"#,
        ),
    ] {
        assert_eq!(rows(text), [row], "{text}");
    }
}
