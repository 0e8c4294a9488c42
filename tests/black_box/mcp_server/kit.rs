//! A client of the server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};
use symposium_testlib::Sandbox;

pub(super) struct Client {
    pub(super) child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    asked: u64,
}

impl Client {
    /// A server, and nothing said to it.
    pub(super) fn start(sandbox: &Sandbox) -> Self {
        let mut command = sandbox.command(&["mcp", "--offline"]);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("the server starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, stdin, stdout, asked: 0 }
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
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
