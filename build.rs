//! Compiles the protos: messages and clients, servers, and the descriptor set that reflection serves.

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
/// The replies that hold facts: they are written, and no values of generated types.
const WRITTEN: [&str; 6] = [
    "RecallResponse",
    "ExplainRecallResponse",
    "GetMemoryResponse",
    "ListMemoriesResponse",
    "GetCandidateResponse",
    "ListCandidatesResponse",
];

#[expect(clippy::disallowed_methods, reason = "a build script is told its directory by the environment alone")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    println!("cargo::rerun-if-changed=src/store/migrations");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let public = protox::compile(PUBLIC.iter().chain(&ALSO_PUBLIC), ["proto"])?;
    fs::write(out.join("recallgate.v1.bin"), public.encode_to_vec())?;
    let generate = || tonic_prost_build::configure().codec_path("crate::api::codec::Codec");
    generate().build_server(false).compile_fds(public.clone())?;
    let servers = out.join("servers");
    fs::create_dir_all(&servers)?;
    let generate = generate().build_client(false).out_dir(servers).extern_path(".recallgate.v1", "crate::api::proto");
    let written = |generate: tonic_prost_build::Builder, reply| {
        let of = format!("crate::api::codec::Written<crate::api::proto::{reply}>");
        generate.extern_path(format!(".recallgate.v1.{reply}"), of)
    };
    WRITTEN.into_iter().fold(generate, written).compile_fds(public)?;
    let stored = protox::compile(STORED, ["proto"])?;
    tonic_prost_build::configure().build_client(false).build_server(false).compile_fds(stored)?;
    Ok(())
}
