//! The server as the SDK wants it: who we are, which tools there are, and a call handed on.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use super::call::{Answer, Caller, Desk};
use super::tools;
use crate::Symposium;
use crate::agents::command::PROGRAM;
use crate::process::Work;
use crate::symposium::VERSION;

/// What the server is for, which most clients hand to the model: at most 400 characters.
const INSTRUCTIONS: &str = "\
    The Rust crates of this workspace at the versions it is locked to, from what is on this disk. \
    Before you write code against a crate: `dependencies` lists them, `crate_info` says where source \
    and skills are. When the compiler disagrees with what you remember: `crate_item`, \
    `crate_changes`. `skills` lists guidance that applies here, `read_skill` gives one: read it when \
    the task calls for it.";

pub(super) struct Server {
    caller: Arc<Caller>,
    session: Work,
}

impl Server {
    pub(super) fn new(sym: &Symposium, desk: Desk, session: Work) -> Self {
        Self { caller: Arc::new(Caller::new(sym, desk)), session }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(PROGRAM, VERSION))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::listed()))
    }

    /// Other requests are answered meanwhile: a crate's source may have to be fetched.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (caller, work) = (Arc::clone(&self.caller), self.session.part());
        let (name, arguments) = (request.name, request.arguments.unwrap_or_default());
        let own = work.clone();
        let mut call = tokio::task::spawn_blocking(move || match own.is_given_up() {
            true => Answer::failed("it was cancelled"),
            false => own.run(|| caller.call(&name, arguments)),
        });
        let answer = tokio::select! {
            answer = &mut call => answer,
            () = context.ct.cancelled() => {
                work.give_up();
                call.await
            }
        };
        let answer = answer.unwrap_or_else(|error| Answer::failed(&error.to_string()));
        let content = vec![ContentBlock::text(answer.text)];
        let result = match answer.is_error {
            true => CallToolResult::error(content),
            false => CallToolResult::success(content),
        };
        Ok(CallToolResponse::Complete(result))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instructions_are_short() {
        assert!(INSTRUCTIONS.chars().count() <= 400, "{}", INSTRUCTIONS.chars().count());
    }
}
