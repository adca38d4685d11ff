//! The store of definitions: settings that people make and save, as opposed to rows.
//!
//! The store is a SQLite file in the data folder, or a PostgreSQL database that several servers
//! share, with the same statements. It holds [`hadal_types::TableSettings`], user functions, what
//! people save ([`hadal_types::Document`]), and the [`Revocation`]s of batches. In a cluster,
//! processes reach it through [`DefinitionStore`]: directly, or through another process (crate
//! `rpc`), with a copy of settings and functions in between ([`FollowedDefinitions`]).
//!
//! - [`Location`] says where the store is; [`Definitions::open`] makes the store, or migrates it to
//!   this program's version (`migrate.rs`).
//! - Each definition has a version. A change names the version that it is based on, and is refused
//!   with a conflict if another change was made in between. Versions are never used twice, not even
//!   by another definition.
//!
//! An unreadable store is an error, never an empty store: if definitions disappeared silently, a
//! person would believe in limits that are no longer in force. This crate does not know what
//! settings do; leaves keep their own copy.

mod definitions;
mod documents;
mod error;
mod file;
mod followed;
mod functions;
mod location;
mod migrate;
mod open;
mod revocations;
mod store;
mod table_settings;

pub use definitions::Definitions;
pub use error::DefinitionsError;
pub use followed::FollowedDefinitions;
pub use location::Location;
pub use migrate::{VERSIONS, Version};
pub use revocations::Revocation;
pub use store::{AllDocuments, AllFunctions, AllTableSettings, DefinitionStore, StoreFuture};
pub use table_settings::Versioned;
