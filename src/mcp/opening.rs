//! What comes before a session is open.
//!
//! The SDK ends the server at a notification before `initialize`, and answers a request with a code
//! of its own. Agents look around before they begin: Antigravity sends requests of all kinds first,
//! and goes on where it gets "no such method".

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, GetMeta as _, JsonRpcMessage,
    ProtocolVersion, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;

/// A transport that hands on nothing before a session's opening.
pub(super) struct Opening<T> {
    inner: T,
    is_open: bool,
}

/// What becomes of a message before the opening.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    /// It opens the session.
    Opens,
    /// The SDK answers it.
    Passes,
    Refused,
    Dropped,
}

impl<T> Opening<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { inner, is_open: false }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Opening<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let message = self.inner.receive().await?;
            if self.is_open {
                return Some(message);
            }
            match (fate(&message), message) {
                (Fate::Opens, message) => {
                    self.is_open = true;
                    return Some(message);
                }
                (Fate::Passes, message) => return Some(message),
                (Fate::Refused, JsonRpcMessage::Request(request)) => {
                    let method = request.request.method().to_owned();
                    let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None);
                    let answer = ServerJsonRpcMessage::error(error, Some(request.id));
                    self.inner.send(answer).await.ok()?;
                }
                (Fate::Refused | Fate::Dropped, _) => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// Since 2026-07-28 there need be no `initialize`: a request that says its protocol and what its
/// client can is the opening.
fn fate(message: &ClientJsonRpcMessage) -> Fate {
    let JsonRpcMessage::Request(request) = message else { return Fate::Dropped };
    let request = &request.request;
    let says_all = || request.get_meta().missing_required_keys(&ProtocolVersion::V_2026_07_28);
    match request {
        ClientRequest::InitializeRequest(_) => Fate::Opens,
        ClientRequest::PingRequest(_) => Fate::Passes,
        _ if !says_all().is_empty() => Fate::Refused,
        ClientRequest::DiscoverRequest(_) => Fate::Passes,
        _ => match request.get_meta().protocol_version() {
            Some(version) if ProtocolVersion::KNOWN_VERSIONS.contains(&version) => Fate::Opens,
            _ => Fate::Passes,
        },
    }
}
