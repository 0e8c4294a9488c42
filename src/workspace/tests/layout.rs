//! Random layouts of packages that point to each other in all the ways there are.

use super::place::Place;

/// A small generator, so that a failure can be repeated from its seed.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn of(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).expect("small")
    }

    pub(super) fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    fn some<'a>(&mut self, from: &[&'a str], most: usize) -> Vec<&'a str> {
        (0..self.below(most + 1)).map(|_| self.pick(from)).collect()
    }
}

pub(super) const FOLDERS: [&str; 7] =
    ["", "a", "a/in", "b", "crates/x", "crates/y", "crates/y/deep"];

/// A project with most of [`FOLDERS`] in it.
pub(super) fn layout(dice: &mut Dice) -> Place {
    let place = Place::with(&[]);
    for dir in FOLDERS {
        if dir.is_empty() || dice.below(8) > 0 {
            package(&place, dice, dir);
        }
    }
    place
}

/// Writes a random package into `dir`.
pub(super) fn package(place: &Place, dice: &mut Dice, dir: &str) {
    let is_root = dir.is_empty() || dice.below(12) == 0;
    let mut more = String::new();
    if is_root && dice.below(6) > 0 {
        let patterns = [
            "a",
            "b",
            "crates/*",
            "a/*",
            "crates/x",
            "./b/",
            "crates/y/../x",
            "[ab]",
            "crates/*/deep",
        ];
        let members = dice.some(&patterns, 3);
        let exclude = dice.some(&["a/in", "crates/y", "crates", "b", "./a"], 2);
        more.push_str(&format!("[workspace]\nmembers = {members:?}\nexclude = {exclude:?}\n"));
    } else if !is_root && dice.below(8) == 0 {
        more.push_str(&format!("workspace = {:?}\n", dice.pick(&["..", ".", "../.."])));
    }
    more.push_str(dice.pick(&[
        "[target.'cfg(unix)'.dependencies]\n",
        "[dependencies]\n",
        "[dev-dependencies]\n",
        "[build-dependencies]\n",
    ]));
    let target = dice.pick(&FOLDERS);
    if target != dir && !target.is_empty() && dice.below(2) == 0 {
        let up = "../".repeat(dir.split('/').filter(|part| !part.is_empty()).count());
        more.push_str(&format!("{} = {{ path = \"{up}{target}\" }}\n", name_of(target)));
    }
    place.package(dir, &name_of(dir), &more);
}

fn name_of(dir: &str) -> String {
    format!("p-{}", dir.replace('/', "-"))
}
