#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| symposium::fuzzing::archive(data));
