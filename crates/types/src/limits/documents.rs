//! Limits of dashboards, saved views and frozen answers.

/// Bytes of the name of a dashboard, a saved view or a frozen answer.
pub const DOCUMENT_NAME_BYTES_MAX: usize = 120;
/// Bytes of the name of the person that a dashboard or a saved view belongs to.
pub const DOCUMENT_OWNER_BYTES_MAX: usize = 120;
/// Bytes of the description of a dashboard, a saved view or a frozen answer.
pub const DOCUMENT_DESCRIPTION_BYTES_MAX: usize = 2_000;
/// Bytes of the address of a query that is saved.
pub const SAVED_QUERY_BYTES_MAX: usize = 8 << 10;
/// Dashboards that the definitions keep, and as many saved views and frozen answers.
pub const DOCUMENTS_MAX: usize = 1_000;
/// Tiles of one dashboard.
pub const DASHBOARD_TILES_MAX: usize = 60;
/// Columns of the grid of a dashboard.
pub const DASHBOARD_COLUMNS: u64 = 12;
/// Rows of the grid of a dashboard.
pub const DASHBOARD_ROWS_MAX: u64 = 1_000;
/// Rows of the grid that one tile may cover.
pub const DASHBOARD_TILE_ROWS_MAX: u64 = 50;
/// Filters of a dashboard, which apply to all of its tiles.
pub const DASHBOARD_FILTERS_MAX: usize = 20;
/// Variables of a dashboard.
pub const DASHBOARD_VARIABLES_MAX: usize = 20;
/// Bytes of a dashboard or a saved view as JSON.
pub const DOCUMENT_BYTES_MAX: usize = 256 << 10;
/// Queries whose answers are frozen together.
pub const SNAPSHOT_ANSWERS_MAX: usize = 16;
/// Bytes of a frozen answer as JSON: query and answers.
pub const SNAPSHOT_BYTES_MAX: usize = 1 << 20;
/// Bytes of all frozen answers together.
pub const SNAPSHOTS_BYTES_MAX: usize = 64 << 20;
/// Files of dashboards that are read from one folder.
pub const DASHBOARD_FILES_MAX: usize = 200;
/// How often the folder of dashboards is read again, in milliseconds.
pub const DASHBOARD_FILES_POLL_MILLIS: u64 = 2_000;
