//! The MCP server: what a workspace's dependencies are, and their skills, for agents to ask.
//!
//! It speaks on the standard streams of `cargo agents mcp`, about the workspace that it is started
//! in. [`tools`] says which tools there are, and [`call`] runs one: with a context of its own, so that
//! what a sync brings during a session is there at the next call. [`dependencies`] and [`skills`] are
//! the tools that are at home here; those about one crate are the command `crate-info`, which the
//! caller hands in. [`opening`] keeps the server alive through what comes before `initialize`, and
//! [`plain`] makes every answer harmless and of bounded length.
//!
//! Only here is an async runtime, made when the server is started.
//!
//! May use: every room below. Used by: `cli`.

mod call;
mod dependencies;
mod opening;
mod plain;
mod server;
mod skills;
mod tools;

use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio_pipes;

pub(crate) use call::{AboutCrate, CrateChanges, CrateItem, CrateQuestion, Desk};

use crate::Symposium;
use crate::process::Work;
use opening::Opening;
use server::Server;

/// Threads beside the server's own: two for standard streams that are no pipes, the rest for calls.
/// More calls than that wait.
const MOST_THREADS: usize = 6;

/// How long calls may take to end when the client is gone.
const FAREWELL: Duration = Duration::from_secs(2);

/// Serves until the client closes our standard input. `desk` answers what is asked of one crate.
///
/// # Errors
/// When there can be no runtime, or the client goes away in the middle of the opening.
pub(crate) fn serve(sym: &Symposium, desk: Desk) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MOST_THREADS)
        .build()?;
    let session = Work::default();
    let server = Server::new(sym, desk, session.clone());
    let served = runtime.block_on(async {
        let (input, output) = stdio_pipes();
        let transport = Opening::new(AsyncRwTransport::new_server(input, output));
        match server.serve(transport).await {
            Ok(running) => running.waiting().await.map(drop).map_err(anyhow::Error::from),
            // A client that only looked whether we start.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    });
    // A call that still runs has nobody to answer: it takes what it started and made with it.
    session.give_up();
    runtime.shutdown_timeout(FAREWELL);
    served
}
