//! `/v1/functions`: defined, listed, protected from lost updates, dropped.

use std::sync::Arc;

use hadal_frontend::FrontendConfig;
use hadal_query::{AggregateUdf, FunctionHost, ScalarUdf, UdfError};
use hadal_types::{FunctionDefinition, limits};
use serde_json::{Value, json};

use crate::client::Reply;
use crate::server::{Server, memory_backend};

const PATH: &str = "/v1/functions/f";

/// Compiles every source but `+*`, and runs none.
#[derive(Debug)]
struct Compiler;

fn none(definition: &FunctionDefinition) -> UdfError {
    UdfError { function: definition.name.clone(), message: "line 1: no".to_owned() }
}

impl FunctionHost for Compiler {
    fn scalar(&self, definition: Arc<FunctionDefinition>) -> Result<Arc<dyn ScalarUdf>, UdfError> {
        Err(none(&definition))
    }

    fn aggregate(
        &self,
        definition: Arc<FunctionDefinition>,
    ) -> Result<Arc<dyn AggregateUdf>, UdfError> {
        Err(none(&definition))
    }

    fn check(&self, definition: Arc<FunctionDefinition>) -> Result<(), UdfError> {
        if definition.source == "+*" { Err(none(&definition)) } else { Ok(()) }
    }
}

fn server() -> Server {
    let functions = Some(Arc::new(Compiler) as Arc<dyn FunctionHost>);
    let config = FrontendConfig { functions, ..FrontendConfig::default() };
    Server::with_frontend(memory_backend(None), config)
}

fn put(server: &Server, body: &Value) -> Reply {
    server.request("PUT", PATH).body(body.to_string()).send()
}

#[test]
fn a_function_is_defined_listed_replaced_and_dropped() {
    let server = server();
    assert_eq!(server.get("/v1/functions").ok(), json!({ "functions": [] }));
    server.get(PATH).problem(404, "unknown-function");
    let body = json!({ "version": 0, "returns": "number", "source": "return 1" });
    let first = put(&server, &body).ok();
    assert_eq!(server.get(PATH).ok(), first);
    assert_eq!(server.get("/v1/functions").ok(), json!({ "functions": [first] }));
    let stale = put(&server, &body).problem(409, "function-conflict");
    assert_eq!(stale["version"], first["version"]);
    let second = put(&server, &json!({ "returns": "string", "source": "return ''" })).ok();
    assert!(second["version"].as_i64() > first["version"].as_i64());
    server.request("DELETE", PATH).send().ok();
    server.request("DELETE", PATH).send().problem(404, "unknown-function");
}

#[test]
fn functions_that_cannot_be_are_refused() {
    let server = server();
    for (body, detail) in [
        (json!({ "returns": "number", "source": "+*" }), "f: line 1: no"),
        (json!({ "returns": "time", "source": "" }), "type: time is none of"),
        (json!({ "returns": "number" }), "source: missing"),
        (
            json!({ "returns": "number", "source": "", "kind": "aggregate" }),
            "parameters: an aggregate has one or two, not 0",
        ),
    ] {
        let problem = put(&server, &body).problem(400, "bad-function");
        assert!(problem["detail"].as_str().is_some_and(|text| text.contains(detail)), "{problem}");
    }
    let sum = server.request("PUT", "/v1/functions/sum");
    let sum = sum.body(json!({ "returns": "number", "source": "" }).to_string()).send();
    sum.problem(400, "bad-function");
    let long = "x".repeat(7 * limits::FUNCTION_SOURCE_BYTES_MAX);
    server.request("PUT", PATH).body(long).send().problem(413, "too-large");
    assert_eq!(server.get("/v1/functions").ok(), json!({ "functions": [] }));
}

#[test]
fn functions_are_off_by_default() {
    let server = Server::start();
    let off = put(&server, &json!({ "returns": "number", "source": "" }));
    let off = off.problem(403, "forbidden");
    assert!(off["detail"].as_str().is_some_and(|text| text.contains("--allow-functions")), "{off}");
}
