//! Calls between two sides in this process, over real sockets.

mod calls;
mod cancel;
mod definitions;
mod expected_rows;
mod fakes;
mod hello;
mod hostile;
mod partials;
mod refusals;
mod reports;
mod restart;
mod tls;
