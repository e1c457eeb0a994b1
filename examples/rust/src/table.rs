//! What this client knows of its table: as much as it needs to play and to tell the result.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::contract::event::Payload;
use crate::contract::watch_table_response::Item;
use crate::contract::{Decision, Event, TablePhase, TableView, WatchTableResponse};

/// Folded from the items of a stream.
#[derive(Default)]
pub struct Table {
    /// Our own.
    seat: Option<i32>,
    phase: TablePhase,
    /// Whether we have said that we are ready for the game or the next deal.
    pub ready: bool,
    /// The open one, whosever it is.
    decision: Option<Decision>,
    names: BTreeMap<i32, String>,
    /// The penalties of the game so far, in the order of the seats.
    pub totals: Vec<Total>,
    /// The seats that won, once the game is over.
    pub winners: Vec<i32>,
}

/// The sum of one seat's penalties.
#[derive(Clone, Copy, Serialize)]
pub struct Total {
    pub seat: i32,
    pub total: i32,
}

impl Table {
    /// Takes in what an item says. Unknown items and events are stepped over.
    pub fn apply(&mut self, response: &WatchTableResponse) {
        match &response.item {
            Some(Item::Snapshot(view)) => *self = Self::from(view),
            Some(Item::Events(batch)) => {
                for event in &batch.events {
                    self.fold(event);
                }
            }
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
            Some(Payload::ReadyChanged(changed)) if Some(changed.seat) == self.seat => {
                self.ready = changed.ready;
            }
            Some(Payload::RematchAsked(_)) => {
                self.phase = TablePhase::Waiting;
                self.ready = false;
            }
            Some(Payload::GameStarted(_)) => {
                self.totals.clear();
                self.winners.clear();
            }
            Some(Payload::DealStarted(_)) => self.phase = TablePhase::Playing,
            Some(Payload::DecisionOpened(opened)) => self.decision.clone_from(&opened.decision),
            Some(Payload::CardsPlayed(_) | Payload::CardPickedUp(_) | Payload::Passed(_)) => {
                self.decision = None;
            }
            Some(Payload::DealEnded(ended)) => {
                self.phase = TablePhase::BetweenDeals;
                self.ready = false;
                let scores = ended.scores.iter();
                self.totals = scores
                    .map(|score| Total {
                        seat: score.seat,
                        total: score.total,
                    })
                    .collect();
            }
            Some(Payload::GameEnded(ended)) => {
                self.phase = TablePhase::GameOver;
                self.winners.clone_from(&ended.winners);
            }
            Some(Payload::TableClosed(_)) => {
                self.phase = TablePhase::Closed;
                self.decision = None;
            }
            _ => {}
        }
    }

    /// What we have to decide now, if anything.
    pub fn my_decision(&self) -> Option<&Decision> {
        self.decision
            .as_ref()
            .filter(|decision| Some(decision.seat) == self.seat && decision.choices.is_some())
    }

    /// Whether the game or the next deal waits for everybody to be ready.
    pub fn is_paused(&self) -> bool {
        matches!(self.phase, TablePhase::Waiting | TablePhase::BetweenDeals)
    }

    /// Whether there is nothing left to play.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, TablePhase::GameOver | TablePhase::Closed)
    }

    /// The end of the game in a sentence.
    pub fn result(&self) -> String {
        if self.winners.is_empty() {
            return "The table was closed before the game was over.".to_owned();
        }
        let name = |seat| self.names.get(seat).map_or("somebody", String::as_str);
        let winners: Vec<_> = self.winners.iter().map(name).collect();
        let totals: Vec<_> = self
            .totals
            .iter()
            .map(|one| format!("{} {}", name(&one.seat), one.total))
            .collect();
        format!("{} won: {}.", winners.join(" and "), totals.join(", "))
    }
}

impl From<&TableView> for Table {
    fn from(view: &TableView) -> Self {
        let game = view.game.clone().unwrap_or_default();
        let mine = view
            .seats
            .iter()
            .find(|seat| Some(seat.seat) == view.your_seat);
        Self {
            seat: view.your_seat,
            phase: view.phase(),
            ready: mine.is_some_and(|seat| seat.ready),
            decision: view.decision.clone(),
            names: view
                .seats
                .iter()
                .map(|seat| (seat.seat, printable(&seat.name)))
                .collect(),
            totals: game
                .players
                .iter()
                .map(|player| Total {
                    seat: player.seat,
                    total: player.total,
                })
                .collect(),
            winners: game.winners,
        }
    }
}

/// A text from the network with what could take a terminal over made harmless.
pub fn printable(text: &str) -> String {
    text.escape_debug().to_string()
}
