//! The store of definitions: what people set and save, as opposed to rows.
//!
//! It is a SQLite file in the data folder, or a PostgreSQL database that several servers share; the
//! statements are the same. Today it holds [`hadal_types::TableSettings`].
//!
//! - [`Location`] says where it is; [`Definitions::open`] makes it, or brings it to the version that
//!   this program knows (`migrate.rs`).
//! - Each definition has a version. Who changes one says which version the change is based on, and
//!   is refused by name when another was quicker. Versions are never used twice, not even by
//!   another definition.
//!
//! What cannot be read is an error, never an empty store: definitions that are lost in silence are
//! limits that a person believes in. It does not know what settings do; leaves keep their own copy.

mod definitions;
mod error;
mod file;
mod location;
mod migrate;
mod table_settings;

pub use definitions::Definitions;
pub use error::DefinitionsError;
pub use location::Location;
pub use migrate::{VERSIONS, Version};
pub use table_settings::Versioned;
