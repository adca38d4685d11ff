//! The part of a process that clients see: the settings of its doors and the limit of connections.

use std::net::SocketAddr;
use std::sync::Arc;

use hadal_frontend::FrontendConfig;
use hadal_http::{About, Config};
use hadal_types::limits::CONNECTIONS_MAX;

use crate::answer_formats;
use crate::archive::ArchiveLocation;
use crate::error::Error;
use crate::output;
use crate::process::service_config::ServiceConfig;
use crate::process::{dashboard_files, data_folder, file_permissions, functions, system, token};

/// Makes files private to this user and raises the limit of open files. Returns the number of
/// connections that the limit allows.
pub(crate) fn check_files(config: &ServiceConfig) -> Result<usize, Error> {
    if config.folder.is_some() {
        system::keep_files_private();
    }
    let files = system::raise_file_limit();
    let connections_max = connections_max(config, files)?;
    if let Some(folder) = &config.folder {
        file_permissions::keep_others_out(folder)?;
    }
    Ok(connections_max)
}

/// Returns the number of connections that this limit of open files allows.
fn connections_max(config: &ServiceConfig, files: Option<u64>) -> Result<usize, Error> {
    let holdings =
        config.folder.as_deref().map(|folder| data_folder::holdings(folder, config.leaves));
    let connections_max = holdings.unwrap_or_default().connections_max(files)?;
    if connections_max < CONNECTIONS_MAX {
        let connections = output::count(connections_max as u64, "connection");
        output::say(&format!("the limit of open files leaves {connections} at the same time"));
    }
    Ok(connections_max)
}

/// The settings of the HTTP door at the address `bound`.
pub(super) fn http_config(
    config: &ServiceConfig,
    bound: SocketAddr,
    connections_max: usize,
) -> Result<Config, Error> {
    let mut doors = Config::new(bound);
    doors.no_tls = config.doors.no_tls;
    doors.allowed_hosts.clone_from(&config.doors.allowed_host);
    doors.admin_token = match (&config.doors.token_file, &config.folder) {
        (Some(file), _) => Some(token::given(file)?),
        (None, Some(folder)) => Some(token::in_folder(folder)?),
        (None, None) => None,
    };
    doors.about = About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: env!("HADAL_COMMIT").to_owned(),
        cpu: hadal_leaf::cpu_path().to_owned(),
        data: match &config.folder {
            Some(_) => "in a folder".to_owned(),
            None => "in memory only".to_owned(),
        },
    };
    doors.connections_max = connections_max;
    doors.answer_formats.extend(answer_formats::heavy());
    // Requests that are ended then have as long again to send their answers.
    doors.stopping_time = doors.stopping_time.min(config.storage.stop_max() / 2);
    doors.check().map_err(|error| Error::Usage(error.to_string()))?;
    Ok(doors)
}

/// The settings of the front of the database behind the doors. Starts to follow the folder of
/// dashboards, if there is one.
pub(super) fn frontend_config(
    config: &ServiceConfig,
    archive: Option<&ArchiveLocation>,
    table_bytes_max: u64,
) -> Result<FrontendConfig, Error> {
    let frontend = FrontendConfig {
        table_bytes_max,
        archive: archive.map(ToString::to_string),
        keeps_self_tables: !config.doors.no_journal,
        functions: functions::host(config.storage.allows_functions()),
        ..FrontendConfig::default()
    };
    if let Some(folder) = &config.doors.dashboards {
        dashboard_files::watch(folder, Arc::clone(&frontend.dashboard_files))?;
    }
    Ok(frontend)
}
