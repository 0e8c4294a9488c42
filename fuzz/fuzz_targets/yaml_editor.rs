#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| symposium::fuzzing::yaml_editor(data));
