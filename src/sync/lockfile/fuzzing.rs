//! What holds of every `symposium.lock`.

use super::LockFile;
use crate::report::fuzzing::{text, told};
use crate::text::Source;

/// What is read is written as something that reads the same.
pub(crate) fn symposium_lock(data: &[u8]) {
    let Some(text) = text(data) else { return };
    match LockFile::parse(&Source::new("/w/symposium.lock", text)) {
        Ok(lock) => {
            let written = lock.render().expect("each part has a place in TOML");
            let again = LockFile::parse(&Source::new("/w/symposium.lock", written.as_str()));
            assert_eq!(again.expect("what we write can be read"), lock, "{written}");
            for difference in LockFile::default().differences(&lock) {
                assert!(!difference.diagnostic().message.is_empty());
            }
        }
        Err(problem) => {
            assert!(problem.remedy().is_some(), "{problem}");
            told(&[problem]);
        }
    }
}
