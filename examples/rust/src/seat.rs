//! What this client does at its table.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use crate::contract::{
    ActRequest, Action, ErrorReason, GetViewRequest, LeaveSeatRequest, Occupant, SetReadyRequest,
    TableView, TakeSeatRequest,
};
use crate::server::{Refusal, Server, call};

/// Shows a table before we sit down, since the game may start as soon as we do. None when we may not;
/// whatever is wrong then, sitting down will tell.
pub async fn look(server: &Server, table: &str) -> Option<TableView> {
    let request = GetViewRequest {
        table: table.to_owned(),
        ..Default::default()
    };
    let answer = call(async || server.play().get_view(request.clone()).await).await;
    answer.ok().and_then(|answer| answer.view)
}

/// A place at a table of a server.
pub struct Seat<'server> {
    server: &'server Server,
    table: &'server str,
}

impl<'server> Seat<'server> {
    /// Takes the first free seat, as a person or as a bot.
    pub async fn take(
        server: &'server Server,
        table: &'server str,
        name: &str,
        as_person: bool,
    ) -> Result<Self, Refusal> {
        let occupant = if as_person {
            Occupant::Person
        } else {
            Occupant::RemoteBot
        };
        let request = TakeSeatRequest {
            request_id: new_request_id(),
            table: table.to_owned(),
            name: name.to_owned(),
            occupant: occupant.into(),
            ..Default::default()
        };
        let answer = call(async || server.lobby().take_seat(request.clone()).await).await?;
        eprintln!("{name} sits at table {table}, seat {}", answer.seat);
        Ok(Self { server, table })
    }

    /// Agrees to the start of the game or of the next deal, and adds a nonce to that deal. Gives the
    /// event after which the server has it, or None when others have started the deal meanwhile.
    pub async fn say_ready(
        &self,
        (nonce, commitment): (Vec<u8>, Vec<u8>),
    ) -> Result<Option<i32>, Refusal> {
        let request = SetReadyRequest {
            request_id: new_request_id(),
            table: self.table.to_owned(),
            ready: true,
            nonce,
            commitment,
        };
        let outcome = call(async || self.server.lobby().set_ready(request.clone()).await).await;
        let answer = unless(
            outcome,
            &[
                ErrorReason::AlreadyStarted,
                ErrorReason::StaleCommitment,
                ErrorReason::GameOver,
            ],
        )?;
        Ok(answer.map(|answer| answer.seq))
    }

    /// Answers a decision.
    pub async fn act(&self, decision_id: i32, action: Action) -> Result<(), Refusal> {
        let request = ActRequest {
            request_id: new_request_id(),
            table: self.table.to_owned(),
            decision_id,
            action: Some(action),
        };
        let outcome = call(async || self.server.play().act(request.clone()).await).await;
        // The table may have moved on without us: the stream tells how.
        unless(
            outcome,
            &[
                ErrorReason::StaleDecision,
                ErrorReason::NotYourTurn,
                ErrorReason::NotStarted,
                ErrorReason::GameOver,
            ],
        )?;
        Ok(())
    }

    /// Gives the seat back. The table may be gone already.
    pub async fn leave(&self) -> Result<(), Refusal> {
        let request = LeaveSeatRequest {
            request_id: new_request_id(),
            table: self.table.to_owned(),
        };
        let outcome = call(async || self.server.lobby().leave_seat(request.clone()).await).await;
        unless(
            outcome,
            &[ErrorReason::GameOver, ErrorReason::TableNotFound],
        )?;
        Ok(())
    }
}

/// Names one request: whatever changes something carries one, and repeats it.
fn new_request_id() -> String {
    BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; 16]>())
}

/// Shrugs when a call was refused for one of the given reasons.
fn unless<T>(outcome: Result<T, Refusal>, harmless: &[ErrorReason]) -> Result<Option<T>, Refusal> {
    match outcome {
        Err(refusal) if harmless.contains(&refusal.reason) => Ok(None),
        outcome => outcome.map(Some),
    }
}
