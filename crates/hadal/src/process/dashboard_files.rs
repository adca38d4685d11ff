//! The folder of `--dashboards`: each of its `.json` files is a dashboard, read only, and read
//! again after a change. A file that cannot be used is reported once, and shown on the page.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hadal_frontend::{DashboardFile, DashboardFiles};
use hadal_types::limits::{DASHBOARD_FILES_MAX, DASHBOARD_FILES_POLL_MILLIS, DOCUMENT_BYTES_MAX};
use hadal_types::{Document, DocumentKind};
use parking_lot::Mutex;

use crate::error::Error;
use crate::output;

/// The folder, and where its dashboards are put.
struct Watch {
    folder: PathBuf,
    files: Arc<Mutex<Arc<DashboardFiles>>>,
}

/// Reads the folder now, and again for ever on a thread of its own.
///
/// # Errors
/// If the folder cannot be read: it was probably misspelled.
pub(crate) fn watch(folder: &Path, files: Arc<Mutex<Arc<DashboardFiles>>>) -> Result<(), Error> {
    fs::read_dir(folder).map_err(Error::io("read", folder.display()))?;
    let watch = Watch { folder: folder.to_owned(), files };
    watch.look();
    let looking = move || {
        loop {
            std::thread::sleep(Duration::from_millis(DASHBOARD_FILES_POLL_MILLIS));
            watch.look();
        }
    };
    let thread = std::thread::Builder::new().name("hadal-dashboards".to_owned());
    thread.spawn(looking).map_err(Error::io("start", "a thread that reads dashboards"))?;
    Ok(())
}

impl Watch {
    /// Reads the folder, and reports problems that are new.
    fn look(&self) {
        let read = Arc::new(read_folder(&self.folder));
        let before = std::mem::replace(&mut *self.files.lock(), Arc::clone(&read));
        for problem in read.problems.iter().filter(|problem| !before.problems.contains(problem)) {
            output::say(&format!("--dashboards: {problem}"));
        }
    }
}

/// Reads all dashboards of a folder.
fn read_folder(folder: &Path) -> DashboardFiles {
    let mut files = DashboardFiles::default();
    let names = match json_files(folder) {
        Ok(names) => names,
        Err(error) => {
            files.problems.push(format!("cannot read {}: {error}", folder.display()));
            return files;
        }
    };
    if names.len() > DASHBOARD_FILES_MAX {
        let (count, most) = (names.len(), DASHBOARD_FILES_MAX);
        files.problems.push(format!("{count} files; only the first {most} are read"));
    }
    for file in names.into_iter().take(DASHBOARD_FILES_MAX) {
        match read_file(&folder.join(&file)) {
            Ok(dashboard) => {
                let is_same = |other: &&DashboardFile| other.dashboard.name() == dashboard.name();
                match files.dashboards.iter().find(is_same) {
                    Some(other) => files.problems.push(format!(
                        "{file}: its dashboard is called {:?}, like that of {}",
                        dashboard.name(),
                        other.file
                    )),
                    None => files.dashboards.push(DashboardFile { file, dashboard }),
                }
            }
            Err(reason) => files.problems.push(format!("{file}: {reason}")),
        }
    }
    files.dashboards.sort_by(|one, other| one.dashboard.name().cmp(other.dashboard.name()));
    files
}

/// The names of the folder's files that end with `.json`, in order.
fn json_files(folder: &Path) -> std::io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        if let Ok(name) = entry?.file_name().into_string()
            && name.ends_with(".json")
        {
            names.insert(name);
        }
    }
    Ok(names)
}

/// Reads the dashboard of a file, whose JSON has its name.
fn read_file(path: &Path) -> Result<Document, String> {
    let failed = |error: std::io::Error| error.to_string();
    // A pipe or a device might never end.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err("it is no ordinary file".to_owned());
    }
    let mut text = String::new();
    let most = DOCUMENT_BYTES_MAX as u64;
    fs::File::open(path)
        .and_then(|file| file.take(most + 1).read_to_string(&mut text))
        .map_err(failed)?;
    if text.len() > DOCUMENT_BYTES_MAX {
        return Err(format!("more than {DOCUMENT_BYTES_MAX} bytes; no more are read"));
    }
    Document::from_json(DocumentKind::Dashboard, &text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dashboard(name: &str) -> String {
        format!(r#"{{"name": "{name}", "tiles": []}}"#)
    }

    #[test]
    fn files_are_read_again_and_wrong_ones_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |file: &str, text: &str| {
            fs::write(folder.path().join(file), text).expect("written");
        };
        let names = |files: &DashboardFiles| {
            let names = files.dashboards.iter().map(|one| one.dashboard.name().to_owned());
            names.collect::<Vec<_>>()
        };
        write("b.json", &dashboard("Beta"));
        write("z.json", &dashboard("Alpha"));
        write("readme.txt", "not a dashboard");
        let files = read_folder(folder.path());
        assert_eq!((names(&files), files.problems.len()), (vec!["Alpha".into(), "Beta".into()], 0));
        write("b.json", "{\"name\": \"Beta\", \"tiles\": [{}]}");
        write("zz.json", &dashboard("Alpha"));
        write("long.json", &"x".repeat(DOCUMENT_BYTES_MAX + 1));
        let files = read_folder(folder.path());
        assert_eq!(names(&files), ["Alpha"]);
        let problems = files.problems.join("\n");
        assert!(problems.contains("b.json: tiles[0].query: missing"), "{problems}");
        assert!(problems.contains("zz.json: its dashboard is called \"Alpha\""), "{problems}");
        assert!(problems.contains("long.json: "), "{problems}");
        assert!(read_folder(&folder.path().join("no-such")).problems[0].contains("no-such"));
    }

    #[test]
    fn so_many_files_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        for index in 0..=DASHBOARD_FILES_MAX {
            let file = folder.path().join(format!("{index:04}.json"));
            fs::write(file, dashboard(&format!("d{index}"))).expect("written");
        }
        let files = read_folder(folder.path());
        assert_eq!((files.dashboards.len(), files.problems.len()), (DASHBOARD_FILES_MAX, 1));
    }

    #[test]
    fn a_folder_that_is_missing_stops_the_start() {
        const { assert!(DASHBOARD_FILES_POLL_MILLIS >= 1_000) };
        let refused = watch(Path::new("/no/such/folder"), Arc::default()).expect_err("missing");
        assert!(refused.to_string().contains("/no/such/folder"), "{refused}");
    }
}
