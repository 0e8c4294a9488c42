//! A client of the server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};
use symposium_testlib::Sandbox;

pub(super) struct Client {
    pub(super) child: Server,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    asked: u64,
}

impl Client {
    /// A server, and nothing said to it.
    pub(super) fn start(sandbox: &Sandbox) -> Self {
        Self::start_with(sandbox, &["mcp", "--offline"])
    }

    pub(super) fn start_with(sandbox: &Sandbox, args: &[&str]) -> Self {
        let mut command = sandbox.command(args);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("the server starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child: Server(child), stdin, stdout, asked: 0 }
    }

    /// One whose session is open.
    pub(super) fn open(sandbox: &Sandbox) -> Self {
        let mut client = Self::start(sandbox);
        client.initialize();
        client
    }

    pub(super) fn initialize(&mut self) -> Value {
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}});
        let answer = self.ask("initialize", params);
        self.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        answer["result"].clone()
    }

    /// Its input, for somebody else to write to.
    pub(super) fn take_stdin(&mut self) -> ChildStdin {
        self.stdin.take().expect("open")
    }

    /// Goes away: nobody writes and nobody reads any more.
    pub(super) fn go_away(self) -> Server {
        let Self { child, stdin, stdout, .. } = self;
        drop((stdin, stdout));
        child
    }

    /// Writes a line.
    pub(super) fn say(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("open");
        stdin.write_all(format!("{line}\n").as_bytes()).expect("the server reads");
    }

    /// Reads a line.
    pub(super) fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("the server writes");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// The answer to a request, which must be the next line.
    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let mut request = json!({"jsonrpc": "2.0", "id": self.asked, "method": method});
        if !params.is_null() {
            request["params"] = params;
        }
        self.say(&request.to_string());
        let answer = self.hear();
        assert_eq!(answer["id"], self.asked, "{answer}");
        answer
    }

    /// The text of a tool's answer, and whether it is an error.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("no text: {answer}"));
        (text.to_owned(), result["isError"] == true)
    }

    /// Closes its input, and gives the exit code; nothing may be left to read.
    pub(super) fn close(mut self) -> Option<i32> {
        drop(self.stdin.take());
        let mut rest = String::new();
        self.stdout.read_line(&mut rest).expect("the end");
        assert_eq!(rest, "");
        self.child.0.wait().expect("it ends").code()
    }
}

/// Ends with the test.
pub(super) struct Server(pub(super) Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
