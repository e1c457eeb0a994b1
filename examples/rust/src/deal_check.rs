//! Checking each deal once its secret is revealed. docs/fair-deal.md says what that proves.

use std::collections::BTreeMap;

use crate::contract::event::Payload;
use crate::contract::watch_table_response::Item;
use crate::contract::{
    Colour, DealRevealed, DealStarted, Event, SeatLeft, SubstituteSeated, TableOptions, TableView,
    WatchTableResponse,
};
use crate::fair_deal::{commitment, draw_deal, draw_first};

/// Remembers of a deal what has to follow from its secret. Bytes that there are not are empty.
#[derive(Default)]
pub struct DealCheck {
    /// The open one, which a nonce has to name; empty when no deal waits for nonces.
    pub commitment: Vec<u8>,
    seat: Option<i32>,
    seats: Vec<i32>,
    /// Whether two colours leave when two play.
    short_deck: bool,
    removed: Vec<i32>,
    /// Our nonce for the open commitment.
    made: Vec<u8>,
    /// What each seat adds to the next deal.
    given: BTreeMap<i32, Vec<u8>>,
    /// The one under way, unless we have not seen it dealt, or it cannot be checked.
    deal: Option<DealStarted>,
    /// Counts the cards that each seat must have been dealt: those it played and those that it has
    /// left, without those it picked up.
    dealt: BTreeMap<i32, BTreeMap<i32, i32>>,
}

impl DealCheck {
    /// What we add to the next deal, so that the server does not choose the cards alone.
    pub fn nonce(&mut self) -> Vec<u8> {
        if self.made.is_empty() && !self.commitment.is_empty() {
            self.made.extend(rand::random::<[u8; 32]>());
        }
        self.made.clone()
    }

    /// Takes in what an item says. An error says that a deal was not dealt as it had to be.
    pub fn apply(&mut self, response: &WatchTableResponse) -> Result<(), String> {
        match &response.item {
            Some(Item::Snapshot(view)) => self.restart(view),
            Some(Item::Events(batch)) => batch.events.iter().try_for_each(|event| self.fold(event)),
            _ => Ok(()),
        }
    }

    fn restart(&mut self, view: &TableView) -> Result<(), String> {
        let game = view.game.clone().unwrap_or_default();
        let seats = view.seats.iter();
        if view.commitment != self.commitment {
            self.made.clear();
        }
        self.commitment.clone_from(&view.commitment);
        self.seat = view.your_seat;
        self.seats = game.players.iter().map(|player| player.seat).collect();
        self.short_deck = view.options.as_ref().is_some_and(TableOptions::short_deck);
        self.removed = game.removed_colours;
        self.given = seats
            .clone()
            .map(|seat| (seat.seat, seat.nonce.clone()))
            .collect();
        self.deal = None;
        let mut mine = seats.filter(|seat| Some(seat.seat) == view.your_seat);
        match mine.find(|seat| seat.ready && !seat.substituted) {
            Some(seat) if !self.commitment.is_empty() => self.must_be_ours(&seat.nonce),
            _ => Ok(()),
        }
    }

    /// Complains of a nonce that the server takes for ours and that is not.
    fn must_be_ours(&self, nonce: &[u8]) -> Result<(), String> {
        if nonce == self.made {
            return Ok(());
        }
        Err("the server exchanged our nonce for the next deal".to_owned())
    }

    fn fold(&mut self, event: &Event) -> Result<(), String> {
        match &event.payload {
            Some(Payload::DealCommitted(committed)) => {
                self.commitment.clone_from(&committed.commitment);
                self.made.clear();
                self.given.clear();
            }
            Some(Payload::ReadyChanged(changed)) => {
                self.given.insert(changed.seat, changed.nonce.clone());
                if Some(changed.seat) == self.seat && changed.ready {
                    self.must_be_ours(&changed.nonce)?;
                }
            }
            Some(
                Payload::SubstituteSeated(SubstituteSeated { seat, .. })
                | Payload::SeatLeft(SeatLeft { seat, .. }),
            ) => {
                self.given.remove(seat);
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
        if deal.nonces.len() != self.seats.len() {
            return fault(deal, "it follows from too few nonces, or too many");
        }
        for (seat, nonce) in self.seats.iter().zip(&deal.nonces) {
            let given = self.given.get(seat).map_or(&[][..], Vec::as_slice);
            if nonce.len() > 32 || nonce != given {
                return fault(deal, &format!("seat {seat} gave another nonce"));
            }
        }
        self.commitment.clear();
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
            let short = self.short_deck && self.seats.len() == 2;
            let drawn = draw_first(secret, &deal.nonces, short);
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
            let mut hand: Vec<i32> = hand.iter().map(|card| (*card).into()).collect();
            hand.sort_unstable();
            self.count(seat, -1, &hand);
            let ours = Some(seat) == self.seat;
            let shown = deal.hand.as_ref().map(|shown| &shown.cards);
            if self.dealt[&seat].values().any(|count| *count != 0) || ours && shown != Some(&hand) {
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
