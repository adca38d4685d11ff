//! The start of a connection: encryption, version, options, authentication.
//!
//! On loopback everybody on the machine may do anything, as at the HTTP door. A page in a browser
//! cannot pass for a client: the first bytes of an HTTP request are no startup message.

use std::collections::BTreeMap;
use std::str;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use hadal_frontend::Principal;
use tokio_rustls::TlsAcceptor;

use crate::backend_message::Output;
use crate::body_reader::BodyReader;
use crate::connection::{Connection, ReceiveError};
use crate::door::Door;
use crate::failure::Failure;
use crate::frontend_message::FrontendMessage;
use crate::protocol_error::ProtocolError;
use crate::scram::MECHANISM;

/// The code of a request for TLS, in the place of a version.
const SSL_REQUEST: u32 = 80_877_103;
/// The code of a request for encryption by GSSAPI, which is declined.
const GSS_REQUEST: u32 = 80_877_104;
/// The code of a request to cancel a statement.
const CANCEL_REQUEST: u32 = 80_877_102;
/// The code of authentication by SASL.
const SASL: u32 = 10;
const SASL_CONTINUE: u32 = 11;
const SASL_FINAL: u32 = 12;
const OK: u32 = 0;

/// A connection whose client is known.
pub(crate) struct Started {
    pub(crate) connection: Connection,
    pub(crate) principal: Principal,
    /// The options of the startup message: `user`, `database`, and settings.
    pub(crate) options: BTreeMap<String, String>,
}

/// Starts a connection; `None` if it ends here: a request to cancel, or a client that is refused
/// and knows why.
///
/// # Errors
/// When the client breaks the protocol or the connection.
pub(crate) async fn start(
    mut connection: Connection,
    door: &Door,
) -> Result<Option<Started>, ReceiveError> {
    let mut is_secure = false;
    loop {
        let Some(mut body) = connection.receive_startup().await? else { return Ok(None) };
        let code = body.try_get_u32().map_err(|_| ProtocolError::Startup)?;
        match code {
            SSL_REQUEST => {
                // Bytes that came before the answer would be taken for encrypted ones.
                if connection.has_received() || is_secure {
                    return Err(ProtocolError::Startup.into());
                }
                let Some(tls) = &door.config.tls else {
                    connection.send_byte(b'N').await?;
                    continue;
                };
                connection.send_byte(b'S').await?;
                let acceptor = TlsAcceptor::from(Arc::clone(&tls.0));
                let stream = acceptor.accept(connection.into_stream()).await?;
                connection = Connection::new(Box::new(stream), door.frontend.hold());
                is_secure = true;
            }
            GSS_REQUEST => connection.send_byte(b'N').await?,
            CANCEL_REQUEST => {
                let mut request = BodyReader::new('K', body);
                door.cancels.cancel(request.u32()?, request.u32()?);
                return Ok(None);
            }
            version => {
                let options = options(&mut connection.output, version, body);
                let started = match options {
                    Ok(options) => admit(&mut connection, door, is_secure)
                        .await?
                        .map(|principal| (options, principal)),
                    Err(error) => Err(Failure::from(error)),
                };
                return match started {
                    Ok((options, principal)) => {
                        Ok(Some(Started { connection, principal, options }))
                    }
                    Err(failure) => {
                        connection.output.error(&failure.notice("", 0));
                        connection.close().await;
                        Ok(None)
                    }
                };
            }
        }
    }
}

/// The options of a startup message. Those of the protocol, which begin with `_pq_.`, are declined,
/// and so are newer minor versions.
fn options(
    output: &mut Output,
    version: u32,
    body: Bytes,
) -> Result<BTreeMap<String, String>, ProtocolError> {
    let [high, low, minor_high, minor_low] = version.to_be_bytes();
    let major = u16::from_be_bytes([high, low]);
    let minor = u16::from_be_bytes([minor_high, minor_low]);
    if major != 3 {
        return Err(ProtocolError::Version { major, minor });
    }
    let mut body = BodyReader::new('0', body);
    let (mut options, mut declined) = (BTreeMap::new(), Vec::new());
    loop {
        let name = body.text().map_err(|_| ProtocolError::Startup)?;
        if name.is_empty() {
            break;
        }
        let value = body.text().map_err(|_| ProtocolError::Startup)?;
        match name.starts_with("_pq_.") {
            true => declined.push(name),
            false => _ = options.insert(name, value),
        }
    }
    body.end().map_err(|_| ProtocolError::Startup)?;
    if minor != 0 || !declined.is_empty() {
        output.negotiate_version(&declined);
    }
    Ok(options)
}

/// The principal of the client, if it may connect.
async fn admit(
    connection: &mut Connection,
    door: &Door,
    is_secure: bool,
) -> Result<Result<Principal, Failure>, ReceiveError> {
    if door.config.requires_tls() && !is_secure {
        let message = "this server takes connections with TLS only";
        return Ok(Err(Failure::fatal("28000", message).hint("connect with sslmode=require")));
    }
    // Only the address decides, as at the HTTP door: a token that is not needed is not asked for.
    let Some(verifier) = door.verifier.as_ref().filter(|_| !door.config.is_loopback()) else {
        connection.output.authentication(OK, &[]);
        return Ok(Ok(Principal::administrator()));
    };
    let refused = || {
        let hint = "the password is the admin token; it is in the file admin-token of --data";
        Ok(Err(Failure::fatal("28P01", "password authentication failed").hint(hint)))
    };
    connection.output.authentication(SASL, format!("{MECHANISM}\0\0").as_bytes());
    connection.flush().await?;
    let Some(first) = sasl_message(connection).await? else { return refused() };
    let mut first = BodyReader::new('p', first);
    let mechanism = first.text()?;
    let length = usize::try_from(first.i32()?).unwrap_or_default();
    let client_first = first.bytes(length)?;
    let exchange = str::from_utf8(&client_first).ok().filter(|_| mechanism == MECHANISM);
    let Some(exchange) = exchange.and_then(|text| verifier.begin(text)) else { return refused() };
    connection.output.authentication(SASL_CONTINUE, exchange.server_first.as_bytes());
    connection.flush().await?;
    let Some(last) = sasl_message(connection).await? else { return refused() };
    let proof = str::from_utf8(&last).ok().and_then(|text| verifier.finish(&exchange, text));
    let Some(server_final) = proof else { return refused() };
    connection.output.authentication(SASL_FINAL, server_final.as_bytes());
    connection.output.authentication(OK, &[]);
    Ok(Ok(Principal::administrator()))
}

async fn sasl_message(connection: &mut Connection) -> Result<Option<Bytes>, ReceiveError> {
    match connection.receive().await? {
        Some(FrontendMessage::Password(bytes)) => Ok(Some(bytes)),
        Some(FrontendMessage::Terminate) | None => Ok(None),
        Some(_) => Err(ProtocolError::Kind('p').into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(version: u32, body: &[u8]) -> Result<BTreeMap<String, String>, ProtocolError> {
        options(&mut Output::default(), version, Bytes::copy_from_slice(body))
    }

    #[test]
    fn options_are_pairs_of_texts() {
        let options = read(3 << 16, b"user\0me\0database\0d\0\0").expect("options");
        assert_eq!(options["user"], "me");
        assert_eq!(options.len(), 2);
        for body in [&b"user\0me\0"[..], b"user\0\0", b"", b"\0x"] {
            assert_eq!(read(3 << 16, body), Err(ProtocolError::Startup), "{body:?}");
        }
        assert_eq!(read(2 << 16, b"\0"), Err(ProtocolError::Version { major: 2, minor: 0 }));
        // The first bytes of an HTTP request.
        assert!(read(u32::from_be_bytes(*b" / H"), b"TTP/1.1\r\n").is_err());
    }

    #[test]
    fn newer_minor_versions_are_negotiated() {
        let mut output = Output::default();
        let body = Bytes::from_static(b"_pq_.x\0y\0user\0me\0\0");
        let options = options(&mut output, (3 << 16) | 2, body).expect("options");
        assert_eq!(options.len(), 1);
        assert_eq!(&output.bytes[..], b"v\0\0\0\x13\0\x03\0\0\0\0\0\x01_pq_.x\0");
    }
}
