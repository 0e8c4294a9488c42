//! Hooks and servers in every agent's own files: in, and out again without a trace.

mod diff;
mod goldens;
mod layouts;
mod scopes;
mod variants;

use symposium_testlib::{Sandbox, Tree};

/// Two plugins: servers of all kinds for workspaces that use `widget`, and one for every workspace.
pub fn plugins(sandbox: &Sandbox) {
    sandbox.user_plugin(
        "widget/SYMPOSIUM.toml",
        r#"name = "widget"
crates = ["widget"]

[[mcp_servers]]
name = "widget-docs"
command = "npx"
args = ["-y", "widget-mcp"]
env = { WIDGET_TOKEN = "s3cret" }

[[mcp_servers]]
name = "widget-http"
type = "http"
url = "https://mcp.example.com/widget"
headers = { Authorization = "Bearer s3cret" }

[[mcp_servers]]
name = "widget-sse"
type = "sse"
url = "https://mcp.example.com/sse"
"#,
    );
    sandbox.user_plugin(
        "anywhere/SYMPOSIUM.toml",
        r#"name = "anywhere"
crates = ["*"]

[[mcp_servers]]
name = "anywhere"
command = "anywhere-mcp"
"#,
    );
}

/// A sandbox with those plugins and a checkout that uses `widget`.
pub fn sandbox() -> Sandbox {
    let sandbox = crate::sandbox();
    sandbox.write("home/.symposium/config.toml", crate::NO_BUILTIN);
    plugins(&sandbox);
    sandbox.package(&[("widget", "1.2.3")]);
    sandbox.git(&["init", "-q"]);
    sandbox.git(&["add", "-A"]);
    sandbox.git(&["commit", "-qm", "start"]);
    sandbox
}

/// All that is not ours: the home folder without our own, and the workspace. Git's own index and
/// logs are not compared.
pub fn outside(sandbox: &Sandbox) -> Tree {
    let mut tree = Tree::of(&sandbox.dir()).without(&["home/.symposium", "home/.cargo"]);
    tree.0.retain(|path, _| !path.starts_with("ws/.git/") || path == "ws/.git/info/exclude");
    tree
}

pub use symposium_testlib::AGENTS;
