//! The keys that lie beside the databases of tested services, for `tests/leaks` to look for.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Notes the keys of the service in that folder, in each form in which one might be said.
pub(crate) fn note(service: &Path) {
    let mut forms = Vec::new();
    if let Ok(key) = std::fs::read(service.join("recall-gate.db.digest-key")) {
        let hexadecimal: Vec<String> = key.iter().map(|byte| format!("{byte:02x}")).collect();
        forms.extend([hexadecimal.concat(), STANDARD.encode(&key), format!("{key:?}")]);
    }
    if let Ok(pem) = std::fs::read_to_string(service.join("recall-gate.db.dev-key.pem")) {
        forms.extend(pem.lines().max_by_key(|line| line.len()).map(str::to_owned));
    }
    if forms.is_empty() {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("secrets");
    std::fs::create_dir_all(&folder).unwrap();
    let mut file = File::options().create(true).append(true).open(folder.join("keys")).unwrap();
    // In one write, because others add theirs at the same time.
    file.write_all(format!("{}\n", forms.join("\n")).as_bytes()).unwrap();
}
