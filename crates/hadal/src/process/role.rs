//! The roles of a process. A role opens the parts that it needs; each part names its inputs and
//! outputs.
//!
//! | part | takes | gives |
//! |---|---|---|
//! | [`address`] | an address, perhaps a data folder | a socket, and the previous server, if there is one |
//! | [`leaves`] | a data folder, memory, an archive | leaves, and what was recovered |
//! | [`tree`] | leaves | the root for queries, and the placement for batches |
//! | [`doors`] | options, the bound address | settings of the HTTP door and the front behind it |
//!
//! Only one role exists, [`all`].

pub(crate) mod address;
pub(crate) mod all;
pub(crate) mod doors;
pub(crate) mod leaves;
pub(crate) mod tree;
