//! What this client does at its table.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

use crate::contract::{
    ActRequest, Action, ErrorReason, GetServerInfoRequest, GetViewRequest, GiveNonceRequest,
    LeaveSeatRequest, Occupant, SetReadyRequest, TableView, TakeSeatRequest,
};
use crate::promises::Offer;
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
    pub as_person: bool,
    /// Whether the server takes nonces of seats that are not ready.
    give_nonce: bool,
}

impl<'server> Seat<'server> {
    /// Takes the first free seat, as a person or as a bot. A bot's nonce goes with it, because a table
    /// of programs may start at once.
    pub async fn take(
        server: &'server Server,
        table: &'server str,
        name: &str,
        as_person: bool,
        early: Option<Offer>,
    ) -> Result<Self, Refusal> {
        let info = call(async || {
            server
                .lobby()
                .get_server_info(GetServerInfoRequest {})
                .await
        });
        let give_nonce = info.await?.features.iter().any(|it| it == "give_nonce");
        let seat = Self {
            server,
            table,
            as_person,
            give_nonce,
        };
        let early = early.filter(|offer| !as_person && seat.may_give(offer));
        let early = early.unwrap_or_default();
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
            nonce: early.nonce,
            commitment: early.commitment,
            ..Default::default()
        };
        let answer = call(async || server.lobby().take_seat(request.clone()).await).await?;
        eprintln!("{name} sits at table {table}, seat {}", answer.seat);
        Ok(seat)
    }

    /// Whether the server takes this nonce while we are not ready.
    fn may_give(&self, offer: &Offer) -> bool {
        self.give_nonce && offer.rounds > 0
    }

    /// Adds a nonce to the next deal, whoever starts it and when. Gives the event after which the
    /// server has it, or None when it does not take it. A bot is always ready, so it may say so where
    /// that is the only way to give a nonce.
    pub async fn give(&self, offer: Offer) -> Result<Option<i32>, Refusal> {
        if !self.may_give(&offer) {
            return if self.as_person {
                Ok(None)
            } else {
                self.say_ready(offer).await
            };
        }
        let request = GiveNonceRequest {
            request_id: new_request_id(),
            table: self.table.to_owned(),
            nonce: offer.nonce,
            commitment: offer.commitment,
        };
        let outcome = call(async || self.server.lobby().give_nonce(request.clone()).await).await;
        // When a substitute plays our seat, a nonce is not allowed.
        let harmless = [TOO_LATE, &[ErrorReason::NotAllowed]].concat();
        Ok(unless(outcome, &harmless)?.map(|answer| answer.seq))
    }

    /// Agrees to the start of the game or of the next deal, and adds a nonce to that deal. Gives the
    /// event after which the server has it, or None when others have started the deal meanwhile.
    pub async fn say_ready(&self, offer: Offer) -> Result<Option<i32>, Refusal> {
        let request = SetReadyRequest {
            request_id: new_request_id(),
            table: self.table.to_owned(),
            ready: true,
            nonce: offer.nonce,
            commitment: offer.commitment,
        };
        let outcome = call(async || self.server.lobby().set_ready(request.clone()).await).await;
        Ok(unless(outcome, TOO_LATE)?.map(|answer| answer.seq))
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

/// Why a nonce is refused when the next deal is another one by now.
const TOO_LATE: &[ErrorReason] = &[
    ErrorReason::AlreadyStarted,
    ErrorReason::StaleCommitment,
    ErrorReason::GameOver,
];

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
