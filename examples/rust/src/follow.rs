//! Following a table: one stream after another, without a hole in the events.

use std::time::Duration;

use tokio::time::timeout;
use tonic::{Status, Streaming};

use crate::contract::watch_table_response::Item;
use crate::contract::{StreamEnd, WatchTableRequest, WatchTableResponse};
use crate::server::{Refusal, Server};

/// How long a stream may say nothing; the server says something every ten seconds.
const SILENCE: Duration = Duration::from_secs(25);

/// The items of a table's stream, the first of them a snapshot.
pub struct Follow<'server> {
    server: &'server Server,
    /// Also the place where we are: `after_seq` and `log_id`.
    request: WatchTableRequest,
    stream: Option<Streaming<WatchTableResponse>>,
    failures: u32,
}

impl<'server> Follow<'server> {
    pub fn new(server: &'server Server, table: &str) -> Self {
        Self {
            server,
            request: WatchTableRequest {
                table: table.to_owned(),
                ..Default::default()
            },
            stream: None,
            failures: 0,
        }
    }

    /// The next item. After a broken or silent line, and when the server asks for it, the stream is
    /// resumed behind the last event. An error is for good.
    pub async fn next(&mut self) -> Result<WatchTableResponse, Refusal> {
        loop {
            match self.next_of_stream().await {
                Ok(response) => {
                    self.failures = 0;
                    return Ok(response);
                }
                Err(refusal) if refusal.is_passing() => {
                    self.stream = None;
                    self.failures += 1;
                    refusal.wait(self.failures).await;
                }
                Err(refusal) => return Err(refusal),
            }
        }
    }

    async fn next_of_stream(&mut self) -> Result<WatchTableResponse, Refusal> {
        let next = async {
            let stream = match &mut self.stream {
                Some(stream) => stream,
                closed => {
                    let answer = self.server.play().watch_table(self.request.clone()).await?;
                    closed.insert(answer.into_inner())
                }
            };
            stream.message().await
        };
        let response = timeout(SILENCE, next)
            .await
            .map_err(|_| Status::unavailable("the server fell silent"))??
            .ok_or_else(|| Status::unavailable("the server ended the stream"))?;
        self.advance(&response)?;
        Ok(response)
    }

    /// Notes how far an item brings us. Events have to follow the last one without a hole.
    fn advance(&mut self, response: &WatchTableResponse) -> Result<(), Refusal> {
        match &response.item {
            Some(Item::Snapshot(view)) => {
                self.request.after_seq = Some(view.seq);
                self.request.log_id.clone_from(&view.log_id);
            }
            Some(Item::Events(batch)) => {
                for event in &batch.events {
                    if event.seq != self.request.after_seq.unwrap_or_default() + 1 {
                        self.request.after_seq = None; // start again with a snapshot
                        return Err(Status::unavailable("events are missing").into());
                    }
                    self.request.after_seq = Some(event.seq);
                }
            }
            Some(Item::StreamEnd(end)) => return Err(end.into()),
            _ => {}
        }
        Ok(())
    }
}

/// What the server says when it ends a stream by itself. It wants nobody back when it names no time
/// for that, as when the same seat is watched from elsewhere (`SUPERSEDED`).
impl From<&StreamEnd> for Refusal {
    fn from(end: &StreamEnd) -> Self {
        let message = format!("the server ended the stream: {:?}", end.reason());
        match end.retry_after {
            None => Status::failed_precondition(message).into(),
            Some(delay) => Self {
                retry_after: delay.try_into().unwrap_or_default(),
                ..Status::unavailable(message).into()
            },
        }
    }
}
