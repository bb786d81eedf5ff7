//! A small file system of its own, which a test can fill.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// More than the callers of a test write by themselves, and filled in no time.
const SIZE: &str = "size=32m";

/// A folder in memory with a limit of its own. It is unmounted when this goes out of scope, after whoever uses it.
pub(crate) struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    pub(crate) fn mount() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", SIZE, "tmpfs"]).arg(folder.path()).output().unwrap();
        assert!(
            mounted.status.success(),
            "this test fills a disk of its own and has to mount one, as root or with CAP_SYS_ADMIN: {}",
            String::from_utf8_lossy(&mounted.stderr)
        );
        Self { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Takes what room there is, to the last byte.
    pub(crate) fn fill(&self) -> PathBuf {
        let path = self.path().join("filler");
        let file = File::options().append(true).create(true).open(&path).unwrap();
        for size in [1 << 20, 1 << 12, 1] {
            let piece = vec![1; size];
            loop {
                match (&file).write(&piece) {
                    Ok(_) => {}
                    Err(error) if error.kind() == ErrorKind::StorageFull => break,
                    Err(error) => panic!("{error}"),
                }
            }
        }
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a process that is being killed may hold it for a moment.
        let _ = Command::new("umount").arg("--lazy").arg(self.folder.path()).status();
    }
}
