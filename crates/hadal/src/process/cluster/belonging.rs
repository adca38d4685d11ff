//! The file in a data folder that says to which cluster and machine its rows belong.
//!
//! Rows of one cluster must not appear in another, and a leaf's name must stay the same: placement
//! and coverage know leaves by their names.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::error::Error;
use crate::process::cluster::config::ClusterConfig;
use crate::process::data_folder::{make_folder, read_small};

/// The name of the file.
const FILE: &str = "cluster";

/// The cluster and the machine of a data folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Belonging {
    pub(crate) cluster: String,
    pub(crate) machine: String,
}

impl Belonging {
    /// That of the data folder of a process with these settings.
    pub(crate) fn of_process(config: &ClusterConfig) -> Self {
        Self { cluster: config.cluster.clone(), machine: config.machine.to_string() }
    }

    /// Checks that a data folder belongs here; a folder that belongs nowhere yet does from now on.
    ///
    /// # Errors
    /// For a folder of another cluster or machine, and if the file cannot be read or written.
    pub(crate) fn claim(&self, folder: &Path) -> Result<(), Error> {
        make_folder(folder)?;
        match Self::of(folder)? {
            Some(owner) if owner == *self => Ok(()),
            Some(owner) => Err(Error::Usage(format!(
                "{} has the rows of machine {} of cluster {}, and this is machine {} of cluster {}: give another \
                 --data, or --cluster {} --machine {}",
                folder.display(),
                owner.machine,
                owner.cluster,
                self.machine,
                self.cluster,
                owner.cluster,
                owner.machine
            ))),
            None => self.write(folder),
        }
    }

    /// Refuses to start a server without a cluster over a folder of a cluster: it would serve a
    /// part of the rows as if they were all.
    pub(crate) fn refuse(folder: &Path) -> Result<(), Error> {
        match Self::of(folder)? {
            None => Ok(()),
            Some(owner) => Err(Error::Usage(format!(
                "{} has the rows of machine {} of cluster {}: give --join and --cluster {}, or another --data",
                folder.display(),
                owner.machine,
                owner.cluster,
                owner.cluster
            ))),
        }
    }

    fn of(folder: &Path) -> Result<Option<Self>, Error> {
        let file = folder.join(FILE);
        let text = match read_small(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.map_err(Error::io("read", file.display()))?,
        };
        let belonging = text.strip_suffix('\n').and_then(|text| text.split_once('\n'));
        let (cluster, machine) = belonging.ok_or_else(|| {
            Error::Usage(format!(
                "{} does not name a cluster and a machine, a line each; write them, as --cluster and \
                 --machine had them",
                file.display()
            ))
        })?;
        Ok(Some(Self { cluster: cluster.to_owned(), machine: machine.to_owned() }))
    }

    fn write(&self, folder: &Path) -> Result<(), Error> {
        let (file, new) = (folder.join(FILE), folder.join(format!("{FILE}.new")));
        let write = || {
            let mut written = File::create(&new)?;
            writeln!(written, "{}\n{}", self.cluster, self.machine)?;
            written.sync_all()?;
            std::fs::rename(&new, &file)?;
            File::open(folder)?.sync_all()
        };
        write().map_err(Error::io("write", file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_belongs_to_the_first_that_claims_it() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path().join("data");
        let mine = Belonging { cluster: "prod".to_owned(), machine: "web-1".to_owned() };
        Belonging::refuse(&folder).expect("not of a cluster");
        mine.claim(&folder).expect("new");
        mine.claim(&folder).expect("mine");
        let error = Belonging::refuse(&folder).expect_err("of a cluster").to_string();
        assert!(error.contains("--cluster prod"), "{error}");
        let other = Belonging { machine: "web-2".to_owned(), ..mine };
        let error = other.claim(&folder).expect_err("another's").to_string();
        assert!(error.contains("machine web-1 of cluster prod"), "{error}");
        std::fs::write(folder.join(FILE), "prod").expect("written");
        assert!(other.claim(&folder).is_err());
    }
}
