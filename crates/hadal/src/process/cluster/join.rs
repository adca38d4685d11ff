//! Greets the members to join before this process becomes one, so that a mistake in the arguments
//! is named at the start.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use hadal_rpc::{HelloError, Identity, say_hello};
use tokio::net::lookup_host;

use crate::error::Error;
use crate::output;

/// How long a member may take to answer.
const TIME: Duration = Duration::from_secs(2);

/// Whether nothing answers at an address, which may change.
const fn is_down(error: &HelloError) -> bool {
    matches!(error, HelloError::Refused { .. } | HelloError::TimedOut { .. })
}

/// Greets every address of `join` but this process's own. An address that is down is reported and
/// is no error, since it may come later.
///
/// # Errors
/// When an address is that of no Hadal process, or of one that does not accept this process: of
/// another cluster or version, with another token, with another clock, or with the same name.
pub(crate) async fn greet(
    join: &[String],
    local: SocketAddr,
    identity: &Arc<Identity>,
) -> Result<(), Error> {
    let greetings = join.iter().map(|address| greet_one(address, local, identity));
    for refusal in join_all(greetings).await {
        refusal?;
    }
    Ok(())
}

async fn greet_one(
    address: &str,
    local: SocketAddr,
    identity: &Arc<Identity>,
) -> Result<(), Error> {
    let addresses = match lookup_host(address).await {
        Ok(addresses) => addresses.collect::<Vec<_>>(),
        Err(error) => {
            output::say(&format!("--join {address}: the name is not known ({error})"));
            return Ok(());
        }
    };
    for member in addresses.into_iter().filter(|member| *member != local) {
        match say_hello(member, identity, TIME).await {
            Ok(hello) if hello.name == *identity.name() => {
                return Err(Error::Usage(format!(
                    "--join {address}: another process is named {} already; give each machine a --machine of \
                     its own",
                    hello.name
                )));
            }
            Ok(_) => {}
            Err(error) if is_down(&error) => {
                output::say(&format!("--join {address}: {error} (it is tried again)"));
            }
            Err(error) => return Err(Error::Usage(format!("--join {address}: {error}"))),
        }
    }
    Ok(())
}
