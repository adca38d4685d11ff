//! Limits of the door for PostgreSQL clients.

/// Connections at the same time on the PostgreSQL port.
pub const PG_CONNECTIONS_MAX: usize = 256;
/// Bytes of a startup message of PostgreSQL, as PostgreSQL has it.
pub const PG_STARTUP_BYTES_MAX: usize = 10_000;
/// How long the startup of a PostgreSQL connection may take, with TLS and authentication, in
/// seconds.
pub const PG_STARTUP_SECONDS: u64 = 10;
/// Bytes of one message of a PostgreSQL client.
pub const PG_MESSAGE_BYTES_MAX: usize = 4 << 20;
/// Statements in one message of a PostgreSQL client.
pub const PG_STATEMENTS_MAX: usize = 1_000;
/// Prepared statements of one PostgreSQL session.
pub const PG_PREPARED_MAX: usize = 1_000;
/// Bytes of the texts of all prepared statements of one PostgreSQL session.
pub const PG_PREPARED_BYTES_MAX: usize = 4 << 20;
/// Portals of one PostgreSQL session. Each may have an answer in memory.
pub const PG_PORTALS_MAX: usize = 100;
/// Parameters of one statement.
pub const PG_PARAMETERS_MAX: usize = 1_000;
/// Settings that one PostgreSQL session changes.
pub const PG_SETTINGS_MAX: usize = 100;
/// Bytes of a setting's name and value.
pub const PG_SETTING_BYTES_MAX: usize = 1_024;
