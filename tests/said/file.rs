//! What services say while they are tested is kept, for `tests/leaks` to search at the end for text and secrets.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A new file for what one speaker says.
pub(crate) fn file(speaker: &str) -> File {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("said");
    std::fs::create_dir_all(&folder).unwrap();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("{}-{}-{count}-{speaker}", env!("CARGO_CRATE_NAME"), std::process::id());
    File::options().create(true).append(true).open(folder.join(name)).unwrap()
}
