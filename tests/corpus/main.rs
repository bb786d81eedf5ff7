//! The kept inputs of the fuzz targets, each once, through the same checks, and the checks themselves: they see what
//! they are to see. `./tests/long fuzz` looks for more.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a check panics")]

#[path = "../../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "the targets are in crates of their own, which reach it")]
mod fuzz;
mod seeds;

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use fuzz::requests::{METHODS, Shape};
use fuzz::tokens::Listing;
use prost::Message;
use prost_types::FileDescriptorSet;
use recall_gate::api::FILE_DESCRIPTOR_SET;
use recall_gate::policy::Policy;

const LARGEST_CORPUS_BYTES: u64 = 500 * 1024;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus")
}

/// The inputs of a target, by name.
fn inputs(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let files = fs::read_dir(corpus().join(target)).unwrap();
    let inputs: Vec<_> = files
        .map(|file| {
            let path = file.unwrap().path();
            let input = fs::read(&path).unwrap();
            (path, input)
        })
        .collect();
    assert!(!inputs.is_empty(), "nothing is kept for `{target}`");
    inputs
}

/// Each by itself, so that all that break a promise are named.
fn each(target: &str, check: fn(&[u8])) {
    let broken = inputs(target).into_iter().filter(|(_, input)| catch_unwind(|| check(input)).is_err());
    let broken: Vec<PathBuf> = broken.map(|(path, _)| path).collect();
    assert!(broken.is_empty(), "a promise is broken by {broken:?}");
}

#[test]
fn every_kept_request_becomes_a_command_or_is_refused() {
    each("requests", fuzz::requests::check);
}

#[test]
fn every_kept_page_token_opens_where_it_belongs_or_nowhere() {
    each("tokens", fuzz::tokens::check);
}

#[test]
fn every_kept_policy_file_is_usable_or_named_faulty() {
    each("policies", fuzz::policies::check);
}

/// After a change of the protos or of a seed: `cargo test --test corpus -- --ignored`.
#[test]
#[ignore = "writes them"]
fn the_seeds_are_written() {
    for (name, input) in seeds::all() {
        let path = corpus().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, input).unwrap();
    }
}

#[test]
fn the_seeds_are_kept_as_they_are_made() {
    for (name, input) in seeds::all() {
        let kept = fs::read(corpus().join(&name)).unwrap_or_default();
        assert!(kept == input, "`{name}`: write them with `cargo test --test corpus -- --ignored`");
    }
}

#[test]
fn the_corpus_stays_small() {
    let sizes = ["requests", "tokens", "policies"]
        .map(|target| inputs(target).into_iter().map(|(_, input)| u64::try_from(input.len()).unwrap()).sum::<u64>());
    assert!(sizes.iter().sum::<u64>() < LARGEST_CORPUS_BYTES, "{sizes:?} bytes");
}

#[test]
fn every_method_of_the_service_is_fuzzed_with_a_request_that_it_takes() {
    let files = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap().file;
    let ours = files.iter().filter(|file| file.package() == "recallgate.v1");
    let methods = ours.flat_map(|file| &file.service).flat_map(|service| &service.method);
    let mut methods: Vec<&str> = methods.map(prost_types::MethodDescriptorProto::name).collect();
    let mut fuzzed = METHODS.to_vec();
    let good = seeds::good_requests();
    let mut good_of: Vec<&str> = good.iter().map(|(method, _)| *method).collect();
    methods.sort_unstable();
    fuzzed.sort_unstable();
    good_of.sort_unstable();
    assert_eq!(fuzzed, methods);
    assert_eq!(good_of, methods);
    for (method, bytes) in good {
        let command = fuzz::requests::read(method, Shape::Message, &bytes);
        fuzz::limits::check(method, &command.unwrap_or_else(|status| panic!("{method}: {status:?}")));
    }
}

#[test]
fn the_kept_policy_files_are_policies_or_have_faults_as_their_names_say() {
    let faults = |name: &str| {
        let document = fs::read_to_string(corpus().join("policies").join(name)).unwrap();
        Policy::parse(&document).map_or_else(|faults| faults.0.len(), |_| 0)
    };
    assert_eq!(["default", "small"].map(faults), [0, 0]);
    assert_eq!(faults("not-toml"), 2);
    assert!(faults("every-field-wrong") > 50, "{}", faults("every-field-wrong"));
}

#[test]
fn a_token_that_the_gate_would_have_sent_opens_in_its_own_listing_alone() {
    let memory = r#"{"Memory":{"owner":"dev","project":"","task":"","key":"language"}}"#;
    let held = r#"[1767225600000000,"0192f0c1-2b3a-7c4d-8e5f-0123456789ab"]"#;
    for sealed_for in fuzz::tokens::LISTINGS {
        let opened = |plain: &str| -> Vec<Listing> {
            let token = fuzz::tokens::token(sealed_for, plain.as_bytes());
            fuzz::tokens::LISTINGS.into_iter().filter(|listing| fuzz::tokens::opens(*listing, &token)).collect()
        };
        let opened: Vec<_> = [opened(memory), opened(held)].concat();
        assert_eq!(opened, [sealed_for]);
    }
}
