//! Following a table: one stream after another, without a hole in the events.

use std::time::Duration;

use tokio::time::{sleep, timeout};
use tonic::{Code, Status, Streaming};

use crate::contract::watch_table_response::Item;
use crate::contract::{StreamEnd, WatchTableRequest, WatchTableResponse};
use crate::refusal::Refusal;
use crate::server::{Server, backoff};

/// How long a stream may say nothing; the server says something every ten seconds.
const SILENCE: Duration = Duration::from_secs(25);

/// The items of a table's stream. After a broken or silent line it resumes behind the last event.
pub struct Follow<'server> {
    server: &'server Server,
    /// Also the place where we are: `after_seq` and `log_id`.
    request: WatchTableRequest,
    stream: Option<Streaming<WatchTableResponse>>,
    end: Option<StreamEnd>,
    failures: u32,
}

impl<'server> Follow<'server> {
    pub fn new(server: &'server Server, table: &str) -> Self {
        let request = WatchTableRequest {
            table: table.to_owned(),
            ..Default::default()
        };
        Self {
            server,
            request,
            stream: None,
            end: None,
            failures: 0,
        }
    }

    /// The next item; the first of all is a snapshot. None when the server wants nobody back. An
    /// error is for good.
    pub async fn next(&mut self) -> Result<Option<WatchTableResponse>, Refusal> {
        loop {
            let refusal = match self.end.take() {
                None => match self.next_of_stream().await {
                    Ok(response) => {
                        self.failures = 0;
                        return Ok(Some(response));
                    }
                    Err(status) => Refusal::from(status),
                },
                Some(end) => {
                    let Some(delay) = end.retry_after else {
                        return Ok(None);
                    };
                    let mut refusal =
                        Refusal::from(Status::unavailable("the server ended the stream"));
                    refusal.retry_after = delay.try_into().unwrap_or_default();
                    refusal
                }
            };
            if is_final(&refusal) {
                return Err(refusal);
            }
            self.stream = None;
            self.failures += 1;
            let pause = backoff(self.failures).max(refusal.retry_after);
            eprintln!(
                "the line broke ({refusal}), resuming after event {} in {pause:.1?}",
                self.request.after_seq.unwrap_or_default(),
            );
            sleep(pause).await;
        }
    }

    async fn next_of_stream(&mut self) -> Result<WatchTableResponse, Status> {
        let next = async {
            if self.stream.is_none() {
                let answer = self.server.play().watch_table(self.request.clone()).await?;
                self.stream = Some(answer.into_inner());
            }
            match &mut self.stream {
                Some(stream) => stream.message().await,
                None => Ok(None),
            }
        };
        let response = timeout(SILENCE, next)
            .await
            .map_err(|_| Status::unavailable("the server fell silent"))??
            .ok_or_else(|| Status::unavailable("the server ended the stream"))?;
        self.advance(&response)?;
        Ok(response)
    }

    /// Notes how far an item brings us. Events have to follow the last one without a hole.
    fn advance(&mut self, response: &WatchTableResponse) -> Result<(), Status> {
        match &response.item {
            Some(Item::Snapshot(view)) => {
                self.request.after_seq = Some(view.seq);
                self.request.log_id.clone_from(&view.log_id);
            }
            Some(Item::Events(batch)) => {
                for event in &batch.events {
                    if event.seq != self.request.after_seq.unwrap_or_default() + 1 {
                        self.request.after_seq = None; // start again with a snapshot
                        return Err(Status::data_loss("events are missing"));
                    }
                    self.request.after_seq = Some(event.seq);
                }
            }
            Some(Item::StreamEnd(end)) => self.end = Some(*end),
            _ => {}
        }
        Ok(())
    }
}

/// Whether another attempt would end the same way. A stream changes nothing, so in doubt it is opened
/// again.
fn is_final(refusal: &Refusal) -> bool {
    !refusal.lost
        && matches!(
            refusal.code,
            Code::InvalidArgument
                | Code::NotFound
                | Code::PermissionDenied
                | Code::Unauthenticated
                | Code::FailedPrecondition
                | Code::Unimplemented
        )
}
