//! An archive in a bucket of an S3-compatible store.
//!
//! Credentials come from the same variables as for AWS's own tools: `AWS_ACCESS_KEY_ID`,
//! `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`, or from the role
//! of the machine. Requests without TLS need `AWS_ALLOW_HTTP=true`.

use std::future::Future;
use std::io::{self, Write};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{ObjectStoreExt, RetryConfig, WriteMultipart};
use tokio::runtime::{Builder, Handle, Runtime};

use super::{ArchiveStorage, IsStopping, Upload};
use crate::error::Error;

/// Bytes of a part of an upload. A store accepts at most 10,000 parts.
const PART_BYTES: usize = 8 << 20;
/// The maximum number of parts sent at the same time.
const PARTS_MAX: usize = 4;
/// How long a failing request is repeated.
const RETRY_TIME: Duration = Duration::from_secs(20);
/// The interval of checks whether to give up.
const LOOK: Duration = Duration::from_millis(20);

/// A bucket.
#[derive(Debug)]
pub(super) struct Bucket {
    store: Arc<AmazonS3>,
    prefix: Path,
    runtime: OwnRuntime,
}

/// The runtime that sends requests. The server's runtime ends before the archive does.
#[derive(Debug)]
struct OwnRuntime(Option<Runtime>);

impl OwnRuntime {
    fn new() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("hadal-archive")
            .enable_all()
            .build()?;
        Ok(Self(Some(runtime)))
    }

    fn handle(&self) -> io::Result<Handle> {
        let runtime = self.0.as_ref().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(runtime.handle().clone())
    }
}

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // The caller may be in a runtime, where blocking is not allowed.
            runtime.shutdown_background();
        }
    }
}

impl Bucket {
    /// Opens the bucket with the credentials of the environment.
    pub(super) fn open(name: &str, prefix: &str) -> Result<Self, Error> {
        let opened = Self::of(Self::builder(name), prefix);
        opened.map_err(|error| Error::Usage(format!("--archive s3://{name}/{prefix}: {error}")))
    }

    pub(super) fn builder(name: &str) -> AmazonS3Builder {
        let retry =
            RetryConfig { max_retries: 5, retry_timeout: RETRY_TIME, ..RetryConfig::default() };
        AmazonS3Builder::from_env().with_bucket_name(name).with_retry(retry)
    }

    pub(super) fn of(builder: AmazonS3Builder, prefix: &str) -> io::Result<Self> {
        // An earlier installation has chosen the same provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let store = Arc::new(builder.build().map_err(store_error)?);
        let prefix = Path::parse(prefix).map_err(object_store::Error::from)?;
        Ok(Self { store, prefix, runtime: OwnRuntime::new()? })
    }

    fn key(&self, path: &str) -> Path {
        let parts = path.split('/');
        parts.fold(self.prefix.clone(), |prefix, part| prefix.join(part))
    }
}

impl ArchiveStorage for Bucket {
    fn begin<'a>(
        &self,
        path: &str,
        is_stopping: IsStopping<'a>,
    ) -> io::Result<Box<dyn Upload + 'a>> {
        let (store, key, runtime) =
            (Arc::clone(&self.store), self.key(path), self.runtime.handle()?);
        let upload = async move { store.put_multipart(&key).await };
        let upload = until_stopped(&runtime, is_stopping, upload)?;
        let parts = Some(WriteMultipart::new_with_chunk_size(upload, PART_BYTES));
        Ok(Box::new(Begun { parts, unsent: 0, runtime, is_stopping }))
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        let (store, key) = (&self.store, self.key(path));
        match self.runtime.handle()?.block_on(store.delete(&key)) {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            removed => removed.map_err(store_error),
        }
    }
}

/// An upload in parts. The store discards it unless it is finished.
struct Begun<'a> {
    /// `None` once the upload is finished.
    parts: Option<WriteMultipart>,
    /// Bytes written since the last wait for capacity.
    unsent: usize,
    runtime: Handle,
    is_stopping: IsStopping<'a>,
}

impl Write for Begun<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Self { parts: Some(parts), unsent, runtime, is_stopping } = self else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        if *unsent >= PART_BYTES {
            until_stopped(runtime, *is_stopping, parts.wait_for_capacity(PARTS_MAX))?;
            *unsent = 0;
        }
        // Full parts are sent from the runtime.
        let _runtime = runtime.enter();
        parts.write(bytes);
        *unsent += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Upload for Begun<'_> {
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        let Some(parts) = self.parts.take() else { return Ok(()) };
        until_stopped(&self.runtime, self.is_stopping, parts.finish())?;
        Ok(())
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if let Some(parts) = self.parts.take() {
            // If the request does not arrive, the store keeps the invisible parts as long as its
            // rules say.
            self.runtime.spawn(parts.abort());
        }
    }
}

/// Returns a store's error without the user part of any URL in it, which an endpoint may have.
fn store_error(error: object_store::Error) -> io::Error {
    let error = io::Error::from(error);
    io::Error::new(error.kind(), without_users(&error.to_string()))
}

fn without_users(text: &str) -> String {
    let (mut clean, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        clean.push_str(before);
        let word = &after[..after.find([' ', '"', ')', ',']).unwrap_or(after.len())];
        rest = word.rfind('@').map_or(after, |at| &after[at + 1..]);
    }
    clean + rest
}

/// Waits for the future's result, or gives up when it is time to stop.
fn until_stopped<T, F>(runtime: &Handle, is_stopping: IsStopping<'_>, future: F) -> io::Result<T>
where
    F: Future<Output = object_store::Result<T>>,
{
    runtime.block_on(async {
        let mut future = pin!(future);
        loop {
            match tokio::time::timeout(LOOK, &mut future).await {
                Ok(done) => return done.map_err(store_error),
                Err(_) if is_stopping() => return Err(io::Error::other("the server stops")),
                Err(_) => {}
            }
        }
    })
}
