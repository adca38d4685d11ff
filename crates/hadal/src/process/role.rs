//! What a process is for. A role opens the parts that it needs; each part says what it takes and gives.
//!
//! | part | takes | gives |
//! |---|---|---|
//! | [`address`] | an address, perhaps a data folder | a socket, and the server before this one |
//! | [`leaves`] | a data folder, memory, an archive | leaves, and what was recovered |
//! | [`tree`] | leaves | who to ask, and who to give batches to |
//! | [`doors`] | options, the bound address | what the HTTP door and the front behind it are set to |
//!
//! Only one role exists, [`all`].

pub(crate) mod address;
pub(crate) mod all;
pub(crate) mod doors;
pub(crate) mod leaves;
pub(crate) mod tree;
