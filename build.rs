//! Compiles the protos: messages, clients and servers, and the descriptor set that reflection serves.

use std::{env, error::Error, fs, path::PathBuf};

use prost::Message;

const PUBLIC: [&str; 5] = [
    "recallgate/v1/capture_service.proto",
    "recallgate/v1/correct_service.proto",
    "recallgate/v1/recall_service.proto",
    "recallgate/v1/delete_service.proto",
    "recallgate/v1/discovery_service.proto",
];
const ALSO_PUBLIC: [&str; 1] = ["recallgate/v1/error.proto"];
const STORED: [&str; 2] = ["recallgate/store/v1/decision.proto", "recallgate/store/v1/receipt.proto"];

#[expect(clippy::disallowed_methods, reason = "a build script is told its directory by the environment alone")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    println!("cargo::rerun-if-changed=src/store/migrations");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let public = protox::compile(PUBLIC.iter().chain(&ALSO_PUBLIC), ["proto"])?;
    fs::write(out.join("recallgate.v1.bin"), public.encode_to_vec())?;
    tonic_prost_build::configure().codec_path("crate::api::codec::Codec").compile_fds(public)?;
    let stored = protox::compile(STORED, ["proto"])?;
    tonic_prost_build::configure().build_client(false).build_server(false).compile_fds(stored)?;
    Ok(())
}
