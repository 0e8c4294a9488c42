//! MCP servers of plugins answer the model, where they should and nowhere else.

use serde_json::json;
use symposium_testlib::clients::Sight;
use symposium_testlib::harness::{Bench, Check, Finding, Point};
use symposium_testlib::mcp::{self, GIVEN, GIVEN_HEADER, HttpMcp};
use symposium_testlib::{Step, World};

pub(crate) const POINT: Point = Point {
    name: "servers",
    checks: &[
        Check {
            name: "servers_answer",
            says: "A plugin's MCP servers, a program and one by HTTP, are offered to the model and \
                   answer it; the manifest's variables and headers reach them.",
            run: servers_answer,
        },
        Check {
            name: "the_client_s_own_list_has_them",
            says: "The client's own command that lists servers has both, connected.",
            run: the_client_s_own_list_has_them,
        },
        Check {
            name: "servers_in_the_project_s_files_answer",
            says: "So they do with `hook-scope = \"project\"`.",
            run: servers_in_the_project_s_files_answer,
        },
        Check {
            name: "servers_stay_in_their_project",
            says: "In another project they are not offered.",
            run: servers_stay_in_their_project,
        },
        Check {
            name: "servers_of_a_removed_dependency_are_gone",
            says: "After the dependency is removed and `sync` run, they are offered no more.",
            run: servers_of_a_removed_dependency_are_gone,
        },
    ],
};

/// What both are given, each in its way.
const VALUE: &str = "s3cret-1";

/// The servers' names.
pub(crate) const PROGRAM: &str = "local1";
/// The one by HTTP.
pub(crate) const HTTP: &str = "web1";

struct Served {
    world: World,
    http: HttpMcp,
}

fn served(bench: &Bench, scope: &str) -> Served {
    let world = bench.world();
    let http = HttpMcp::start(HTTP);
    let (command, args) = mcp::stdio(PROGRAM, &world.sandbox.dir().join("asked"));
    world.sandbox.user_plugin("s/SYMPOSIUM.toml", &manifest(&command, &args, &http.url()));
    world.sandbox.package(&[("widget", "1.0.0")]);
    world.init(&["--hook-scope", scope]);
    Served { world, http }
}

/// A plugin for users of the crate, with both servers.
pub(crate) fn manifest(command: &str, args: &[String], url: &str) -> String {
    format!(
        "name = \"s\"\ncrates = [\"widget\"]\n\n[[mcp_servers]]\nname = \"{PROGRAM}\"\ncommand = \
         {}\nargs = {}\nenv = {{ {GIVEN} = \"{VALUE}\" }}\n\n[[mcp_servers]]\nname = \"{HTTP}\"\ntype \
         = \"http\"\nurl = {}\nheaders = {{ {GIVEN_HEADER} = \"{VALUE}\" }}\n",
        json!(command),
        json!(args),
        json!(url),
    )
}

fn the_client_s_own_list_has_them(bench: &Bench) -> Finding {
    let served = served(bench, "global");
    let Some(said) = served.world.listed_servers() else {
        return Finding::Cant("It has no command that lists servers.");
    };
    if bench.is("qwen") {
        let waits = |name| {
            said.lines().any(|line| line.contains(name) && line.contains("Pending approval"))
        };
        assert!([PROGRAM, HTTP].into_iter().all(waits), "{said}");
        return Finding::Cant(
            "Its list has both, and says that they wait for the user's approval.",
        );
    }
    let client = served.world.client();
    let seen = [PROGRAM, HTTP].map(|name| client.listed(&said, name));
    assert!(!seen.contains(&Sight::Missing), "{seen:?}\n{said}");
    let asked = served.world.sandbox.has("asked") && !served.http.asked().is_empty();
    match seen {
        [Sight::Connected, Sight::Connected] => {
            assert!(asked, "it says so without having asked them\n{said}");
            Finding::Holds
        }
        _ => {
            assert!(!asked, "it asks them now, and could say so\n{said}");
            Finding::Cant("Its list does not connect to them; it has both, and they are enabled.")
        }
    }
}

fn servers_answer(bench: &Bench) -> Finding {
    answer(&served(bench, "global"))
}

fn servers_in_the_project_s_files_answer(bench: &Bench) -> Finding {
    answer(&served(bench, "project"))
}

fn answer(served: &Served) -> Finding {
    let turn = served.world.turn(&[Step::ping(PROGRAM), Step::ping(HTTP), Step::say("Done.")]);
    let results = turn.results().join("\n");
    for name in [PROGRAM, HTTP] {
        assert!(results.contains(&mcp::pong(name)), "{name}\n{}", turn.told());
    }
    let given = results.matches(&mcp::given(VALUE)).count();
    assert_eq!(given, 2, "a variable or a header is missing\n{}", turn.told());
    assert!(served.world.sandbox.read("asked").contains("tools/call"));
    assert!(served.http.asked().iter().any(|method| method == "tools/call"));
    Finding::Holds
}

fn servers_stay_in_their_project(bench: &Bench) -> Finding {
    let served = served(bench, "global");
    let sandbox = &served.world.sandbox;
    sandbox.write("other/Cargo.toml", "[package]\nname = \"other\"\nversion = \"0.1.0\"\n");
    sandbox.write(
        "other/Cargo.lock",
        "version = 4\n\n[[package]]\nname = \"other\"\nversion = \"0.1.0\"\n",
    );
    sandbox.write("other/src/lib.rs", "");
    sandbox.git_in("other", &["init", "--quiet"]);
    absent(&served, "other")
}

fn servers_of_a_removed_dependency_are_gone(bench: &Bench) -> Finding {
    let served = served(bench, "global");
    served.world.sandbox.package(&[]);
    served.world.sync();
    absent(&served, "ws")
}

fn absent(served: &Served, folder: &str) -> Finding {
    let prompt = "Please do as you think best.";
    let turn = served.world.try_turn(folder, prompt, &[Step::say("Done.")]).complete();
    for name in [PROGRAM, HTTP] {
        assert!(!turn.shows(name), "{name}\n{}", turn.told());
    }
    assert!(!served.world.sandbox.has("asked"), "the program was started\n{}", turn.told());
    assert!(served.http.asked().is_empty(), "{:?}", served.http.asked());
    Finding::Holds
}
