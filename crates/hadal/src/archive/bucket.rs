//! An archive in a bucket of a store that speaks S3.
//!
//! Who may write there is told as AWS's own tools are told it: `AWS_ACCESS_KEY_ID`,
//! `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`, or the role of the
//! machine. Requests without TLS want `AWS_ALLOW_HTTP=true`.

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

/// Bytes of a part of an upload: a store takes 10,000 parts at most.
const PART_BYTES: usize = 8 << 20;
/// Parts that are on their way at the same time.
const PARTS_MAX: usize = 4;
/// A request that fails is made again for so long.
const RETRY_TIME: Duration = Duration::from_secs(20);
/// How often is looked whether to give up.
const LOOK: Duration = Duration::from_millis(20);

/// The bucket.
#[derive(Debug)]
pub(super) struct Bucket {
    store: Arc<AmazonS3>,
    prefix: Path,
    runtime: OwnRuntime,
}

/// What sends requests. Not the server's: that ends before the archive does.
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
            // Whoever drops it may be in a runtime, where nothing is waited for.
            runtime.shutdown_background();
        }
    }
}

impl Bucket {
    /// The bucket, as the environment says who we are.
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
        // Whoever came first has chosen the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let store = Arc::new(builder.build().map_err(told)?);
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
            removed => removed.map_err(told),
        }
    }
}

/// An upload in parts, which the store forgets unless it is finished.
struct Begun<'a> {
    /// None once it is finished.
    parts: Option<WriteMultipart>,
    /// Bytes that were written since room was asked for.
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
        // Parts that are full are sent from there.
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
            // A store that does not hear of it keeps parts that nobody sees, as its rules say.
            self.runtime.spawn(parts.abort());
        }
    }
}

/// What a store said, without the user part of any URL in it: an endpoint may have one.
fn told(error: object_store::Error) -> io::Error {
    let error = io::Error::from(error);
    io::Error::new(error.kind(), without_users(&error.to_string()))
}

fn without_users(text: &str) -> String {
    let (mut told, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        told.push_str(before);
        let word = &after[..after.find([' ', '"', ')', ',']).unwrap_or(after.len())];
        rest = word.rfind('@').map_or(after, |at| &after[at + 1..]);
    }
    told + rest
}

/// What the future comes to, unless it is time to give up before.
fn until_stopped<T, F>(runtime: &Handle, is_stopping: IsStopping<'_>, future: F) -> io::Result<T>
where
    F: Future<Output = object_store::Result<T>>,
{
    runtime.block_on(async {
        let mut future = pin!(future);
        loop {
            match tokio::time::timeout(LOOK, &mut future).await {
                Ok(done) => return done.map_err(told),
                Err(_) if is_stopping() => return Err(io::Error::other("the server stops")),
                Err(_) => {}
            }
        }
    })
}
