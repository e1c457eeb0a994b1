//! What this client knows of its table: as much as it needs to play and to tell the result.

use std::collections::BTreeMap;

use crate::contract::event::Payload;
use crate::contract::watch_table_response::Item;
use crate::contract::{Decision, Event, TablePhase, TableView, WatchTableResponse};

/// Folded from the items of a stream.
#[derive(Default)]
pub struct Table {
    /// Our own.
    seat: Option<i32>,
    /// Whether the game or the next deal waits for us to say ready.
    pub asked: bool,
    /// The open one, whosever it is.
    decision: Option<Decision>,
    /// Whether there is nothing left to play.
    pub over: bool,
    /// Whether our seat is gone: the host has removed us, or we were away.
    pub unseated: bool,
    names: BTreeMap<i32, String>,
    /// The total of each seat so far.
    scores: Vec<(i32, i32)>,
    /// The seats that won, once the game is over.
    pub winners: Vec<i32>,
}

impl Table {
    /// Takes in what an item says. Unknown items and events are stepped over.
    pub fn apply(&mut self, response: &WatchTableResponse) {
        match &response.item {
            Some(Item::Snapshot(view)) => *self = Self::from(view),
            Some(Item::Events(batch)) => batch.events.iter().for_each(|event| self.fold(event)),
            _ => {}
        }
    }

    fn fold(&mut self, event: &Event) {
        match &event.payload {
            Some(Payload::SeatTaken(taken)) => {
                if let Some(seat) = &taken.seat {
                    self.names.insert(seat.seat, printable(&seat.name));
                }
            }
            Some(Payload::SeatLeft(left)) if Some(left.seat) == self.seat => self.unseated = true,
            Some(Payload::ReadyChanged(changed)) if Some(changed.seat) == self.seat => {
                self.asked = !changed.ready;
            }
            // A substitute was ready for us, we are not.
            Some(Payload::SeatResumed(resumed)) if Some(resumed.seat) == self.seat => {
                self.asked = true;
            }
            Some(Payload::DealStarted(_)) => self.asked = false,
            Some(Payload::DecisionOpened(opened)) => self.decision.clone_from(&opened.decision),
            Some(Payload::CardsPlayed(_) | Payload::CardPickedUp(_) | Payload::Passed(_)) => {
                self.decision = None;
            }
            Some(Payload::DealEnded(ended)) => {
                self.asked = true;
                let scores = ended.scores.iter();
                self.scores = scores.map(|score| (score.seat, score.total)).collect();
            }
            Some(Payload::GameEnded(ended)) => {
                self.over = true;
                self.winners.clone_from(&ended.winners);
            }
            Some(Payload::TableClosed(_)) => self.over = true,
            _ => {}
        }
    }

    /// What we have to decide now, if anything. It is given once.
    pub fn take_decision(&mut self) -> Option<Decision> {
        let mine = |decision: &mut Decision| {
            Some(decision.seat) == self.seat && decision.choices.is_some()
        };
        self.decision.take_if(mine)
    }

    /// How the game ended, in a sentence.
    pub fn result(&self) -> String {
        let name = |seat| self.names.get(seat).map_or("somebody", String::as_str);
        let winners: Vec<_> = self.winners.iter().map(name).collect();
        let totals = self.scores.iter();
        let totals: Vec<_> = totals
            .map(|(seat, total)| format!("{} {total}", name(seat)))
            .collect();
        format!("{} won: {}.", winners.join(" and "), totals.join(", "))
    }
}

/// A snapshot is all that is true now.
impl From<&TableView> for Table {
    fn from(view: &TableView) -> Self {
        let game = view.game.clone().unwrap_or_default();
        let paused = matches!(view.phase(), TablePhase::Waiting | TablePhase::BetweenDeals);
        let seats = view.seats.iter();
        let players = game.players.iter();
        Self {
            seat: view.your_seat,
            unseated: view.your_seat.is_none(),
            asked: paused
                && seats
                    .clone()
                    .any(|seat| Some(seat.seat) == view.your_seat && !seat.ready),
            decision: view.decision.clone(),
            over: matches!(view.phase(), TablePhase::GameOver | TablePhase::Closed),
            names: seats
                .map(|seat| (seat.seat, printable(&seat.name)))
                .collect(),
            scores: players.map(|player| (player.seat, player.total)).collect(),
            winners: game.winners,
        }
    }
}

/// A text from the network with what could take a terminal over made harmless.
pub fn printable(text: &str) -> String {
    text.escape_debug().to_string()
}
