//! The files beside the database: the lock, and the digest key.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use aws_lc_rs::rand;
use zeroize::Zeroizing;

use crate::store::OpenError;
use crate::store::digest::{DigestKey, KEY_LEN};
use crate::store::key_file;

const OWNER_ONLY: u32 = 0o600;

/// What has to be free for the store to be of use, in bytes: a change writes less than this.
const ROOM: u64 = 1 << 20;

/// What the service may still write to the file system that a path lies in, in bytes.
///
/// # Errors
/// Where the file system does not tell.
pub fn free_bytes(path: &Path) -> std::io::Result<u64> {
    let disk = rustix::fs::statvfs(path)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Path with something after it: `memories.db` and `.lock` make `memories.db.lock`.
fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut path = OsString::from(database);
    path.push(suffix);
    path.into()
}

/// Where the digest key of a database lies.
fn key_path(database: &Path) -> PathBuf {
    beside(database, ".digest-key")
}

/// Makes the database file, if there is none, so that nobody else can read it. SQLite gives its other files the same
/// mode.
pub(super) fn make_database(database: &Path) -> Result<(), OpenError> {
    match OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(database) {
        Ok(file) => Ok(file.sync_all().and_then(|()| sync_directory(database))?),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Locks the database for this process; held for as long as the file lives. The lock file says who holds it.
pub(super) fn lock(database: &Path) -> Result<File, OpenError> {
    let path = beside(database, ".lock");
    let mut options = OpenOptions::new();
    let mut file = options.read(true).write(true).create(true).truncate(false).mode(OWNER_ONLY).open(path)?;
    match file.try_lock() {
        Ok(()) => {
            file.set_len(0)?;
            file.rewind()?;
            write!(file, "{}", std::process::id())?;
            Ok(file)
        }
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            file.read_to_string(&mut holder)?;
            Err(OpenError::Held { process_id: holder.trim().parse().ok() })
        }
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// The key that the digests of an existing database were made with. Never makes a new one: with another key, no
/// tombstone and no block would be found again.
pub(super) fn existing_key(database: &Path, id: &str) -> Result<DigestKey, OpenError> {
    let path = key_path(database);
    match key_file::read(&path)? {
        None => Err(OpenError::KeyMissing { path }),
        Some(key) if key.id() == id => Ok(key),
        Some(_) => Err(OpenError::KeyForeign { path }),
    }
}

/// The key of a database that holds no digests yet: the one that lies there, or a new one.
pub(super) fn first_key(database: &Path) -> Result<DigestKey, OpenError> {
    let path = key_path(database);
    if let Some(key) = key_file::read(&path)? {
        return Ok(key);
    }
    let mut bytes = Zeroizing::new([0; KEY_LEN]);
    rand::fill(bytes.as_mut_slice()).map_err(|_| OpenError::KeyMalformed { path: path.clone() })?;
    // Renamed into place once it is whole, so that a crash leaves no half a key behind.
    let half_made = beside(&path, ".new");
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(OWNER_ONLY).open(&half_made)?;
    file.write_all(bytes.as_slice())?;
    file.sync_all()?;
    std::fs::rename(&half_made, &path)?;
    sync_directory(&path)?;
    DigestKey::new(&bytes).ok_or(OpenError::KeyMalformed { path })
}

/// The files of an open database, as they lay there when it was opened.
///
/// A process goes on writing to a file that has been removed or renamed, without any error; who opens the database next
/// finds nothing of it.
#[derive(Debug, Clone)]
pub(super) struct InPlace(Vec<(PathBuf, u64, u64)>);

impl InPlace {
    /// The files of a database that has been opened just now.
    pub(super) fn of(database: &Path) -> std::io::Result<Self> {
        let found = |suffix| {
            let path = beside(database, suffix);
            let lies = std::fs::metadata(&path)?;
            Ok((path, lies.dev(), lies.ino()))
        };
        ["", "-wal", "-shm"].into_iter().map(found).collect::<Result<_, _>>().map(Self)
    }

    /// Whether each is still the file that its path leads to.
    pub(super) fn verify(&self) -> Result<(), sqlx::Error> {
        for (path, device, number) in &self.0 {
            let lies = std::fs::metadata(path).map(|lies| (lies.dev(), lies.ino()));
            if !lies.is_ok_and(|lies| lies == (*device, *number)) {
                let what = format!("`{}` was removed or replaced while it was open", path.display());
                return Err(sqlx::Error::Io(std::io::Error::other(what)));
            }
        }
        Ok(())
    }

    /// Whether the file system has room for a change.
    pub(super) fn verify_room(&self) -> Result<(), sqlx::Error> {
        for (path, ..) in &self.0 {
            let free = free_bytes(path)?;
            if free < ROOM {
                let what = format!("only {free} bytes are free where `{}` lies", path.display());
                return Err(sqlx::Error::Io(std::io::Error::new(ErrorKind::StorageFull, what)));
            }
        }
        Ok(())
    }
}

fn sync_directory(path: &Path) -> std::io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_tells_how_much_is_free() {
        assert!(free_bytes(Path::new("/")).unwrap() > 0);
        assert!(free_bytes(Path::new("/nowhere")).is_err());
    }
}
