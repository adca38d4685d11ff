//! A handler for each route: reads a request, calls the front, and writes the response.

pub(crate) mod blocks;
pub(crate) mod cluster;
pub(crate) mod column_values;
pub(crate) mod columns;
pub(crate) mod contrast;
pub(crate) mod documents;
pub(crate) mod functions;
pub(crate) mod ingest;
pub(crate) mod losses;
pub(crate) mod query;
pub(crate) mod revoke;
pub(crate) mod rollover;
pub(crate) mod snapshots;
pub(crate) mod status;
pub(crate) mod table_settings;
pub(crate) mod tables;
