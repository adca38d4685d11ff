//! The file with the admin token.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use hadal_frontend::Token;

use crate::error::Error;
use crate::process::data_folder::{TOKEN_FILE, make_folder, read_small, read_some};
use crate::process::file_permissions::refuse_written_by_others;

/// Returns the token in a file that the user named, which may be a pipe. A missing file is created.
pub(crate) fn given(file: &Path) -> Result<Token, Error> {
    refuse_written_by_others(file)?;
    token(file, |file| read_some(File::open(file)?))
}

/// Returns the token of a data folder, from a file that only its owner may read. A missing file is
/// created.
pub(crate) fn in_folder(folder: &Path) -> Result<Token, Error> {
    token(&folder.join(TOKEN_FILE), read_small)
}

fn token(file: &Path, read: fn(&Path) -> io::Result<String>) -> Result<Token, Error> {
    let place = file.display().to_string();
    let text = match read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make_token(file)?;
            read(file)
        }
        read => read,
    };
    Token::parse(&text.map_err(Error::io("read", &place))?)
        .ok_or_else(|| Error::Usage(format!("{place} does not hold 64 hexadecimal digits")))
}

/// Creates a file with a new token. The file gets its name only once it is complete: a full disk or
/// a kill must not leave a file that every later start refuses.
fn make_token(file: &Path) -> Result<(), Error> {
    let token =
        Token::random().map_err(|error| Error::Server(format!("cannot make a token: {error}")))?;
    if let Some(folder) = file.parent() {
        make_folder(folder)?;
    }
    let mut new = file.as_os_str().to_owned();
    new.push(".new");
    let new = PathBuf::from(new);
    let write = || {
        // An earlier start may have left an unfinished file.
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut options = fs::OpenOptions::new();
        let mut written = options.write(true).create_new(true).mode(0o600).open(&new)?;
        writeln!(written, "{}", token.reveal())?;
        written.sync_all()?;
        fs::rename(&new, file)
    };
    write().map_err(Error::io("write", file.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_token_is_made_once_and_for_its_owner_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("data").join(TOKEN_FILE);
        let first = given(&file).expect("a token");
        let mode = fs::metadata(&file).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let mode = fs::metadata(folder.path().join("data")).expect("a folder").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert!(given(&file).expect("a token").matches(&first));
        assert!(in_folder(&folder.path().join("data")).expect("a token").matches(&first));
        fs::write(&file, "secret").expect("written");
        assert!(matches!(given(&file), Err(Error::Usage(_))));
    }

    #[test]
    fn a_token_that_was_not_written_to_its_end_is_made_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(TOKEN_FILE);
        // After a kill or on a full disk.
        fs::write(folder.path().join("admin-token.new"), "0123").expect("written");
        let first = given(&file).expect("a token");
        assert!(given(&file).expect("a token").matches(&first));
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1);
    }

    #[test]
    fn a_pipe_is_read_where_it_was_named_and_nowhere_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(TOKEN_FILE);
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        let node = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &file, node, mode, 0).expect("made");
        let refused = in_folder(folder.path()).map(drop).expect_err("refused").to_string();
        assert!(refused.contains("it is no regular file"), "{refused}");
        let writer = std::thread::spawn({
            let file = file.clone();
            move || fs::write(file, "7".repeat(64))
        });
        assert_eq!(given(&file).expect("a token").reveal(), "7".repeat(64));
        writer.join().expect("it ended").expect("written");
    }
}
