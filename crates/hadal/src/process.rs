//! The life of a server process: opening, handover, memory limits and shutdown.

pub(crate) mod cluster;
pub(crate) mod damage;
pub(crate) mod dashboard_files;
pub(crate) mod data_folder;
pub(crate) mod file_permissions;
pub(crate) mod functions;
pub(crate) mod handover;
pub(crate) mod heap;
pub(crate) mod memory;
pub(crate) mod recovered;
pub(crate) mod role;
pub(crate) mod runtime;
pub(crate) mod service;
pub(crate) mod service_config;
pub(crate) mod shutdown;
pub(crate) mod system;
pub(crate) mod token;
