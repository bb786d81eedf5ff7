#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| recall_gate_fuzz::policies::check(data));
