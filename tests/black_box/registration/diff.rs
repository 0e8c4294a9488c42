//! What became of a text, line by line, for people.

/// Lines of `after` with `+`, those of `before` that are gone with `-`, the others as they are.
/// Carriage returns, byte order marks and tabs are shown.
pub(super) fn diff(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (lines(before), lines(after));
    let mut common = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    for (i, one) in old.iter().enumerate().rev() {
        for (j, two) in new.iter().enumerate().rev() {
            common[i][j] = if one == two {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let mut text = String::new();
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            push(&mut text, ' ', old[i]);
            (i, j) = (i + 1, j + 1);
        } else if j < new.len() && (i == old.len() || common[i][j + 1] >= common[i + 1][j]) {
            push(&mut text, '+', new[j]);
            j += 1;
        } else {
            push(&mut text, '-', old[i]);
            i += 1;
        }
    }
    text
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn push(text: &mut String, sign: char, line: &str) {
    let shown = line.replace('\u{feff}', "<BOM>").replace('\r', "<CR>").replace('\t', "<TAB>");
    match shown.strip_suffix('\n') {
        Some(shown) => text.push_str(format!("{sign}|{shown}").trim_end()),
        None => text.push_str(&format!("{sign}|{shown}<no newline>")),
    }
    text.push('\n');
}
