//! Expected rows of another process.

use std::sync::Arc;

use hadal_types::LeafName;
use hadal_types::limits::EXPECTED_ROWS_PULL_MILLIS;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::fakes::{
    Fake, TestServer, connection, expected_rows, identity, leaf_identity, leaf_name, unused_address,
};
use crate::call::CallError;
use crate::method::Method;
use crate::server::Services;
use crate::{pull_expected_rows, serve};

#[tokio::test]
async fn changes_since_a_version_come_from_another_process() {
    let server = TestServer::start().await;
    let connection = server.connection(identity("machine-2"));
    for (epoch, version) in [(0, 0), (5, 7), (u64::MAX - 1, 9)] {
        let pulled = pull_expected_rows(&connection, &leaf_name(), epoch, version).await;
        assert_eq!(pulled, Ok(expected_rows(epoch, version)));
    }
}

#[tokio::test]
async fn a_process_that_fails_is_named_and_goes_on() {
    let server = TestServer::start().await;
    let connection = server.connection(identity("machine-2"));
    let failed = pull_expected_rows(&connection, &leaf_name(), 0, u64::MAX).await;
    let failed = failed.expect_err("it panicked").to_string();
    assert!(failed.starts_with("machine-1/leaf-0 does not report its"), "{failed}");
    for noise in [&b"\xff"[..], b"\x08", b"\x1a\x01\x00", &[255; 1_000]] {
        let (name, noise) = (leaf_name(), noise.to_vec().into());
        let called = connection.call(Method::ExpectedRows, Some((&name).into()), noise).await;
        let error = CallError::from(called.expect_err("no request"));
        assert!(matches!(error, CallError::Failed(_)), "{error}");
    }
    let pulled = pull_expected_rows(&connection, &leaf_name(), 1, 1).await;
    assert_eq!(pulled, Ok(expected_rows(1, 1)));
    let other = LeafName("machine-7".into());
    let refused = pull_expected_rows(&connection, &other, 1, 1).await.expect_err("another process");
    assert!(refused.reason.contains("machine-1/leaf-0"), "{refused}");
}

#[tokio::test]
async fn a_process_without_expected_rows_refuses() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound");
    let services = Services {
        peer: Arc::new(Fake::default()),
        planned: None,
        sink: None,
        admin: None,
        reports: None,
        definitions: None,
        restarter: None,
        expected_rows: None,
        functions: Default::default(),
    };
    let (_stop, stopped) = oneshot::channel::<()>();
    tokio::spawn(async move {
        let stopped = async { drop(stopped.await) };
        serve(listener, Arc::new(leaf_identity()), services, stopped).await
    });
    let connection = connection(address, identity("machine-2"));
    let refused = pull_expected_rows(&connection, &leaf_name(), 0, 0).await.expect_err("a leaf");
    assert!(refused.reason.contains("has no expected rows"), "{refused}");
}

#[tokio::test]
async fn a_process_that_is_away_is_not_waited_for() {
    let address = unused_address().await;
    let away = connection(address, identity("machine-2"));
    let refused = pull_expected_rows(&away, &leaf_name(), 0, 0).await.expect_err("nobody");
    assert!(refused.reason.contains("refused"), "{refused}");
    // The system accepts the connection, and nobody answers.
    let _silent = TcpListener::bind(address).await.expect("free");
    let silent = connection(address, identity("machine-2"));
    let late = pull_expected_rows(&silent, &leaf_name(), 0, 0).await.expect_err("silent");
    assert!(late.reason.contains(&EXPECTED_ROWS_PULL_MILLIS.to_string()), "{late}");
}
