//! One connection's bytes: framing, limits of size, and time limits for clients that stall.
//!
//! | the client | is cut off after |
//! |---|---|
//! | does not finish its startup | [`limits::PG_STARTUP_SECONDS`] (`startup.rs`) |
//! | stops within a message | [`limits::STALL_SECONDS`] |
//! | stops reading an answer | [`limits::STALL_SECONDS`] |
//!
//! Between messages a client may be silent for any time, as pools of connections are.

use std::future::pending;
use std::io;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use hadal_types::{MemoryReservation, limits};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use crate::backend_message::Output;
use crate::frontend_message::FrontendMessage;
use crate::protocol_error::ProtocolError;

/// A stream of bytes in both directions.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + Sync {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + Sync> Stream for S {}

/// Bytes that are read at a time.
const READ_BYTES: usize = 16 << 10;
/// Bytes of a message that are received without a reservation of memory.
const UNRESERVED_BYTES: usize = 64 << 10;
/// Bytes of an answer that are collected before they are sent.
pub(crate) const FLUSH_BYTES: usize = 64 << 10;

/// Why no message could be received.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReceiveError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The memory pool has no memory for the message.
    #[error("no memory for a message of {0} bytes; try again later")]
    Memory(usize),
}

/// A connection.
pub(crate) struct Connection {
    stream: Box<dyn Stream>,
    received: BytesMut,
    /// Messages that are not sent yet.
    pub(crate) output: Output,
    /// The memory of large messages.
    reservation: MemoryReservation,
}

impl Connection {
    /// A connection over `stream` that reserves memory for large messages.
    pub(crate) fn new(stream: Box<dyn Stream>, reservation: MemoryReservation) -> Self {
        Self { stream, received: BytesMut::new(), output: Output::default(), reservation }
    }

    /// Replaces the stream by one over it, such as TLS.
    pub(crate) fn into_stream(self) -> Box<dyn Stream> {
        self.stream
    }

    /// Whether bytes were received that no message has used.
    pub(crate) fn has_received(&self) -> bool {
        !self.received.is_empty()
    }

    /// Receives the next message; `None` if the client has closed the connection between messages.
    pub(crate) async fn receive(&mut self) -> Result<Option<FrontendMessage>, ReceiveError> {
        // The first byte may take any time.
        if self.received.is_empty() && self.read(false).await? == 0 {
            return Ok(None);
        }
        self.fill(1 + LENGTH_BYTES).await?;
        let kind = self.received[0];
        let length = length_of(&self.received[1..], limits::PG_MESSAGE_BYTES_MAX)?;
        // The memory of the message before is free again.
        let reserved = self.reservation.resize(if length > UNRESERVED_BYTES { length } else { 0 });
        reserved.map_err(|_| ReceiveError::Memory(length))?;
        self.fill(1 + length).await?;
        self.received.advance(1 + LENGTH_BYTES);
        let body = self.received.split_to(length - LENGTH_BYTES).freeze();
        Ok(Some(FrontendMessage::decode(kind, body)?))
    }

    /// Receives a message of the startup, which has no type; `None` if the client has closed the
    /// connection.
    pub(crate) async fn receive_startup(&mut self) -> Result<Option<Bytes>, ReceiveError> {
        if self.received.is_empty() && self.read(false).await? == 0 {
            return Ok(None);
        }
        self.fill(LENGTH_BYTES).await?;
        let length = length_of(&self.received, limits::PG_STARTUP_BYTES_MAX)?;
        self.fill(length).await?;
        self.received.advance(LENGTH_BYTES);
        Ok(Some(self.received.split_to(length - LENGTH_BYTES).freeze()))
    }

    /// Reads until `length` bytes are received.
    async fn fill(&mut self, length: usize) -> Result<(), ReceiveError> {
        while self.received.len() < length {
            if self.read(true).await? == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
        }
        Ok(())
    }

    async fn read(&mut self, is_paced: bool) -> io::Result<usize> {
        self.received.reserve(READ_BYTES);
        let reading = self.stream.read_buf(&mut self.received);
        match is_paced {
            true => timeout(stall_time(), reading).await?,
            false => reading.await,
        }
    }

    /// Waits until the client closes the connection. Further messages are received meanwhile, as
    /// far as they fit a buffer.
    pub(crate) async fn closed(&mut self) {
        while self.received.len() < UNRESERVED_BYTES {
            self.received.reserve(READ_BYTES);
            match self.stream.read_buf(&mut self.received).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        }
        pending::<()>().await;
    }

    /// Sends the messages if there are many.
    pub(crate) async fn flush_if_full(&mut self) -> io::Result<()> {
        if self.output.bytes.len() >= FLUSH_BYTES { self.flush().await } else { Ok(()) }
    }

    /// Sends all messages.
    pub(crate) async fn flush(&mut self) -> io::Result<()> {
        while !self.output.bytes.is_empty() {
            let written = timeout(stall_time(), self.stream.write_buf(&mut self.output.bytes));
            if written.await?? == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
        }
        timeout(stall_time(), self.stream.flush()).await?
    }

    /// Sends one byte at once: the answer to a request for encryption.
    pub(crate) async fn send_byte(&mut self, byte: u8) -> io::Result<()> {
        self.output.bytes.extend_from_slice(&[byte]);
        self.flush().await
    }

    /// Sends all messages and closes the connection. It does not matter whether the client has
    /// read them.
    pub(crate) async fn close(mut self) {
        if self.flush().await.is_ok() {
            let _ = timeout(stall_time(), self.stream.shutdown()).await;
        }
    }
}

const LENGTH_BYTES: usize = 4;

/// The length of a message, which includes that of the length itself.
fn length_of(bytes: &[u8], most: usize) -> Result<usize, ProtocolError> {
    let mut bytes = bytes;
    let length = bytes.try_get_i32().unwrap_or_default();
    match usize::try_from(length) {
        Ok(length) if (LENGTH_BYTES..=most).contains(&length) => Ok(length),
        _ => Err(ProtocolError::Length(length.into(), most)),
    }
}

fn stall_time() -> Duration {
    Duration::from_secs(limits::STALL_SECONDS)
}

#[cfg(test)]
mod tests {
    use hadal_types::MemoryPool;
    use hadal_types::limits::{PG_MESSAGE_BYTES_MAX, PG_STARTUP_BYTES_MAX};
    use tokio::io::duplex;

    use super::*;

    fn connection(bytes: &[u8]) -> (Connection, tokio::io::DuplexStream) {
        let (server, client) = duplex(1 << 20);
        let mut connection =
            Connection::new(Box::new(server), MemoryPool::new(1 << 30).reservation());
        connection.received.extend_from_slice(bytes);
        (connection, client)
    }

    #[test]
    fn lengths_have_limits() {
        let length = |length: i32, most| length_of(&length.to_be_bytes(), most).ok();
        let most = |most: usize| i32::try_from(most).expect("small");
        for limit in [PG_MESSAGE_BYTES_MAX, PG_STARTUP_BYTES_MAX] {
            assert_eq!(length(most(limit), limit), Some(limit));
            assert_eq!(length(most(limit) + 1, limit), None);
            assert_eq!(length(3, limit), None);
            assert_eq!(length(-1, limit), None);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_stops_within_a_message_is_cut_off() {
        let (mut connection, _client) = connection(b"Q\0\0\0\x0aSEL");
        let error = connection.receive().await.expect_err("cut off");
        assert!(matches!(error, ReceiveError::Io(_)), "{error}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_stops_reading_is_cut_off() {
        let (mut connection, _client) = connection(b"");
        connection.output.bytes.resize(2 << 20, 0);
        let error = connection.flush().await.expect_err("cut off");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn messages_are_received_one_by_one() {
        let (mut connection, client) = connection(b"S\0\0\0\x04Q\0\0\0\x05\0");
        let mut message = async || connection.receive().await.expect("a message");
        assert_eq!(message().await, Some(FrontendMessage::Sync));
        assert_eq!(message().await, Some(FrontendMessage::Query(String::new())));
        drop(client);
        assert_eq!(message().await, None);
    }

    #[tokio::test]
    async fn a_message_beyond_the_memory_is_refused() {
        let (server, _client) = duplex(64);
        let mut connection =
            Connection::new(Box::new(server), MemoryPool::new(1 << 10).reservation());
        connection.received.extend_from_slice(b"Q\0\x02\0\0");
        let error = connection.receive().await.expect_err("refused");
        assert!(matches!(error, ReceiveError::Memory(_)), "{error}");
    }
}
