//! Checking each deal once its secret is revealed. docs/fair-deal.md says what that proves.

use std::collections::BTreeMap;

use crate::contract::event::Payload;
use crate::contract::watch_table_response::Item;
use crate::contract::{Colour, DealRevealed, DealStarted, Event, TableView, WatchTableResponse};
use crate::fair_deal::{commitment, draw_deal, draw_first};

/// Remembers of a deal what has to follow from its secret. Bytes that there are not are empty.
#[derive(Default)]
pub struct DealCheck {
    /// The open one, which a nonce has to name; empty when no deal waits for nonces.
    pub commitment: Vec<u8>,
    seat: Option<i32>,
    seats: Vec<i32>,
    removed: Vec<i32>,
    /// The last nonce that we made.
    made: Vec<u8>,
    /// The one that has to go into the next deal, once we are ready with it.
    nonce: Vec<u8>,
    /// The one under way, unless we have not seen it dealt, or it cannot be checked.
    deal: Option<DealStarted>,
    /// Counts the cards that each seat must have been dealt: those it played and those that it has
    /// left, without those it picked up.
    dealt: BTreeMap<i32, BTreeMap<i32, i32>>,
}

impl DealCheck {
    /// Makes what we add to the next deal, so that the server does not choose the cards alone.
    pub fn new_nonce(&mut self) -> Vec<u8> {
        self.made.clear();
        if !self.commitment.is_empty() {
            self.made.extend(rand::random::<[u8; 32]>());
        }
        self.made.clone()
    }

    /// Takes in what an item says. An error says that a deal was not dealt as it had to be.
    pub fn apply(&mut self, response: &WatchTableResponse) -> Result<(), String> {
        match &response.item {
            Some(Item::Snapshot(view)) => self.restart(view),
            Some(Item::Events(batch)) => {
                return batch.events.iter().try_for_each(|event| self.fold(event));
            }
            _ => {}
        }
        Ok(())
    }

    fn restart(&mut self, view: &TableView) {
        let game = view.game.clone().unwrap_or_default();
        self.commitment.clone_from(&view.commitment);
        self.seat = view.your_seat;
        self.seats = game.players.iter().map(|player| player.seat).collect();
        self.removed = game.removed_colours;
        self.deal = None;
        let mut mine = view
            .seats
            .iter()
            .filter(|seat| Some(seat.seat) == self.seat);
        if !mine.any(|seat| seat.ready && !seat.substituted) {
            self.nonce.clear();
        }
    }

    fn fold(&mut self, event: &Event) -> Result<(), String> {
        match &event.payload {
            Some(Payload::DealCommitted(committed)) => {
                self.commitment.clone_from(&committed.commitment);
                self.nonce.clear();
            }
            Some(Payload::ReadyChanged(changed)) if Some(changed.seat) == self.seat => {
                self.nonce.clear();
                if changed.ready {
                    self.nonce.clone_from(&self.made);
                }
            }
            Some(Payload::SubstituteSeated(seated)) if Some(seated.seat) == self.seat => {
                self.nonce.clear();
            }
            Some(Payload::GameStarted(game)) => {
                self.seats.clone_from(&game.seats);
                self.removed.clone_from(&game.removed_colours);
            }
            Some(Payload::DealStarted(deal)) => self.start(deal)?,
            Some(Payload::CardsPlayed(played)) => self.count(played.seat, 1, &played.cards),
            Some(Payload::CardPickedUp(taken)) => self.count(taken.seat, -1, &[taken.card]),
            Some(Payload::DealEnded(ended)) => {
                for score in &ended.scores {
                    self.count(score.seat, 1, &score.remaining);
                }
            }
            Some(Payload::DealRevealed(revealed)) => self.reveal(revealed)?,
            Some(Payload::GameEnded(_) | Payload::TableClosed(_)) => self.must_be_revealed()?,
            _ => {}
        }
        Ok(())
    }

    /// Looks at what the server says that the deal follows from.
    fn start(&mut self, deal: &DealStarted) -> Result<(), String> {
        self.must_be_revealed()?;
        if deal.commitment.is_empty() {
            let reason = "since the server committed itself to nothing";
            eprintln!("deal {}: cannot be checked, {reason}", deal.deal);
            return Ok(());
        }
        if deal.commitment != self.commitment {
            return fault(
                deal,
                "it follows from another commitment than the one before the nonces",
            );
        }
        if deal.nonces.len() != self.seats.len() || deal.nonces.iter().any(|one| one.len() > 32) {
            return fault(deal, "its nonces are no nonces of the players");
        }
        let mut given = self.seats.iter().zip(&deal.nonces);
        let ours = given.find(|(seat, _)| Some(**seat) == self.seat);
        if !self.nonce.is_empty() && ours.is_some_and(|(_, nonce)| *nonce != self.nonce) {
            return fault(deal, "our nonce did not go into it");
        }
        self.commitment.clear();
        self.nonce.clear();
        self.deal = Some(deal.clone());
        self.dealt = self
            .seats
            .iter()
            .map(|seat| (*seat, BTreeMap::new()))
            .collect();
        Ok(())
    }

    fn count(&mut self, seat: i32, change: i32, cards: &[i32]) {
        if let Some(counts) = self.dealt.get_mut(&seat) {
            for card in cards {
                *counts.entry(*card).or_default() += change;
            }
        }
    }

    /// Works the deal out again, and compares.
    fn reveal(&mut self, revealed: &DealRevealed) -> Result<(), String> {
        let Some(deal) = self.deal.take() else {
            eprintln!(
                "deal {}: not checked, since we did not see it dealt",
                revealed.deal
            );
            return Ok(());
        };
        let secret = &revealed.secret;
        if commitment(secret) != deal.commitment {
            return fault(
                &deal,
                "the secret is not what the server committed itself to",
            );
        }
        let removed: Vec<Colour> = self
            .removed
            .iter()
            .filter_map(|colour| Colour::try_from(*colour).ok())
            .collect();
        let order = if deal.deal == 1 {
            let drawn = draw_first(secret, &deal.nonces, !removed.is_empty());
            if self.seats[drawn.opener] != deal.opener || drawn.removed != removed {
                return fault(
                    &deal,
                    "another seat had to open it, or other colours had to leave",
                );
            }
            drawn.order
        } else {
            draw_deal(secret, &deal.nonces, deal.deal, &removed)
        };
        for (seat, hand) in self.seats.clone().into_iter().zip(order.chunks(9)) {
            let hand: Vec<i32> = hand.iter().map(|card| (*card).into()).collect();
            self.count(seat, -1, &hand);
            if self.dealt[&seat].values().any(|count| *count != 0) {
                return fault(&deal, &format!("seat {seat} had to get other cards"));
            }
        }
        eprintln!("deal {}: checked", deal.deal);
        Ok(())
    }

    /// Complains of a deal that is over without its secret.
    fn must_be_revealed(&self) -> Result<(), String> {
        match &self.deal {
            Some(deal) => fault(
                deal,
                "the server committed itself to it and never revealed it",
            ),
            None => Ok(()),
        }
    }
}

fn fault(deal: &DealStarted, problem: &str) -> Result<(), String> {
    Err(format!("deal {}: {problem}", deal.deal))
}
