//! Checking each deal: it has to follow from what was promised. docs/fair-deal.md says what that
//! proves.

use std::collections::{BTreeMap, BTreeSet};

use crate::contract::event::Payload;
use crate::contract::watch_table_response::Item;
use crate::contract::{
    Colour, DealRevealed, DealSource, DealStarted, Event, GameView, NonceGiven, Occupant,
    ReadyChanged, RematchAsked, Seat, SeatLeft, SubstituteSeated, TableOptions, TablePhase,
    TableView, WatchTableResponse,
};
use crate::fair_deal::{MAX_ROUNDS, ROUNDS, commitment, draw_deal, draw_first, key_rounds, word};
use crate::promises::{Key, Lie, Offer, Promise, Promises, Terms};

/// Compares what the server says of the deals with what it has promised.
#[derive(Default)]
pub struct DealCheck {
    /// How many deals could not be checked in full.
    pub not_in_full: u32,
    promises: Promises,
    log: String,
    game: i32,
    seat: Option<i32>,
    seats: Vec<i32>,
    /// Whether two colours leave when two play.
    short_deck: bool,
    removed: Vec<i32>,
    /// What each seat adds to the next deal.
    given: BTreeMap<i32, Vec<u8>>,
    /// The seats that persons hold.
    people: BTreeSet<i32>,
    /// The deal that waits for nonces, if one does.
    open: Option<Key>,
    /// The one that is being played.
    deal: Option<Key>,
    /// Whether its cards are played, and its secret is due.
    over: bool,
    /// Counts the cards that each seat must have been dealt: those it played and those that it has
    /// left, without those it picked up. Empty when we did not see all of the deal.
    dealt: BTreeMap<i32, BTreeMap<i32, i32>>,
}

impl DealCheck {
    /// What we add to the next deal when we say that we are ready. Empty when no deal waits for nonces.
    pub fn offer(&self) -> Offer {
        let open = self.open.and_then(|key| self.promises.get(key));
        open.map(|open| open.offer(false)).unwrap_or_default()
    }

    /// What we add to the next deal as soon as it waits for nonces, so that it is in there whoever
    /// starts it and when. None when we have added something, or tried to.
    pub fn early_offer(&self) -> Option<Offer> {
        let open = self.open.and_then(|key| self.promises.get(key))?;
        (!open.offered && open.taken.is_none()).then(|| open.offer(true))
    }

    /// Notes that the server has what we added, and since which event; None when it has not.
    pub fn taken(&mut self, offer: Offer, seq: Option<i32>) {
        let Some(open) = self.open.and_then(|key| self.promises.get_mut(key)) else {
            return;
        };
        open.offered = true;
        if let Some(seq) = seq {
            open.taken = Some(offer.nonce);
            open.taken_at = seq;
        }
    }

    /// Takes in what an item says. The error is a lie, and comes as soon as it shows.
    pub fn apply(&mut self, response: &WatchTableResponse) -> Result<(), Lie> {
        match &response.item {
            Some(Item::Snapshot(view)) => self.restart(view),
            Some(Item::Events(batch)) => batch.events.iter().try_for_each(|event| self.fold(event)),
            _ => Ok(()),
        }
    }

    /// Takes in a snapshot, and compares it with the promises.
    pub fn restart(&mut self, view: &TableView) -> Result<(), Lie> {
        let game = view.game.clone().unwrap_or_default();
        let seats = view.seats.iter();
        self.log.clone_from(&view.log_id);
        self.game = game.game;
        self.seat = view.your_seat;
        self.seats = game.players.iter().map(|player| player.seat).collect();
        self.short_deck = view.options.as_ref().is_some_and(TableOptions::short_deck);
        self.removed.clone_from(&game.removed_colours);
        self.given = seats.map(|seat| (seat.seat, seat.nonce.clone())).collect();
        view.seats.iter().for_each(|seat| self.sits(seat));
        let shown = (game.game, game.deal);
        if self.deal.is_some_and(|deal| deal != shown) {
            self.is_not_in_full("we have not seen its end");
        }
        let playing = view.phase() == TablePhase::Playing;
        self.open = None;
        let open = source(view.source.as_ref(), &view.commitment, &[]);
        if !playing && !open.commitment.is_empty() {
            let next = match view.phase() {
                TablePhase::BetweenDeals => (game.game, game.deal + 1),
                _ => (game.game + 1, 1),
            };
            self.commit(next, &open)?;
            self.compare_ours(view.seq)?;
        }
        if game.deal > 0 {
            self.join(shown, &game, view.seq, playing)?;
        }
        Ok(())
    }

    /// Notes a commitment to a deal of which no card has been dealt.
    fn commit(&mut self, key: Key, source: &DealSource) -> Result<(), Lie> {
        let promise = self.promises.note(key, &self.log, source)?;
        if promise.terms.is_some() {
            return Err(promise.lie("it is dealt a second time"));
        }
        self.open = Some(key);
        Ok(())
    }

    /// Compares our nonce, by what the server says after this event, with what we gave.
    fn compare_ours(&mut self, seq: i32) -> Result<(), Lie> {
        let open = self.open.and_then(|key| self.promises.get_mut(key));
        let given = self.seat.and_then(|seat| self.given.get(&seat));
        match (open, given) {
            // Something older may have been on its way.
            (Some(open), Some(given)) if seq >= open.taken_at => open.must_be_ours(given),
            _ => Ok(()),
        }
    }

    /// Takes in a deal as a snapshot shows it: at its start, in the middle or at its end.
    fn join(&mut self, key: Key, game: &GameView, seq: i32, playing: bool) -> Result<(), Lie> {
        let known = self.promises.get(key).is_some();
        let source = source(game.source.as_ref(), &game.commitment, &game.nonces);
        let am_person = self.seat.is_some_and(|seat| self.people.contains(&seat));
        let deal = self.promises.note(key, &self.log, &source)?;
        if !known {
            deal.gap = "we came when it had started";
            deal.told = !playing; // over before we came
        }
        if deal.told {
            return Ok(());
        }
        let terms = Terms {
            seats: self.seats.clone(),
            nonces: source.nonces,
            opener: game.opener,
            removed: self.removed.clone(),
            rounds: source.key_rounds,
        };
        let fewest = key_rounds(deal.rounds, deal.taken.is_some() && am_person);
        if terms.rounds != deal.rounds && terms.rounds != fewest {
            return Err(deal.lie("its key was stretched less than it had to be"));
        }
        let cards = game.centre.len() + game.discarded.len() + game.remaining_hands.len();
        let seen = std::mem::replace(&mut deal.seen, seq);
        self.deal = Some(key);
        match &deal.terms {
            None if cards == 0 => {
                deal.hand = game.hand.as_ref().map(|hand| hand.cards.clone());
                self.begin(key, terms)?;
            }
            None => {
                self.begin(key, terms)?;
                self.miss(key);
            }
            Some(before) if *before != terms => {
                return Err(deal.lie("it did not start from that"));
            }
            Some(_) if seen != seq => self.miss(key),
            Some(_) => {}
        }
        if !playing && !game.remaining_hands.is_empty() {
            return self.reveal(key, &game.secret);
        }
        if !playing {
            self.is_not_in_full("the table was closed before its end");
        }
        Ok(())
    }

    /// Notes that whose each card was is not known.
    fn miss(&mut self, key: Key) {
        self.dealt.clear();
        if let Some(deal) = self.promises.get_mut(key) {
            deal.gap = "we have not seen all of it";
        }
    }

    /// Notes who holds a seat.
    fn sits(&mut self, seat: &Seat) {
        if seat.occupant() == Occupant::Person {
            self.people.insert(seat.seat);
        } else {
            self.people.remove(&seat.seat);
        }
    }

    fn fold(&mut self, event: &Event) -> Result<(), Lie> {
        if let Some(deal) = self.deal.and_then(|key| self.promises.get_mut(key)) {
            deal.seen = event.seq;
            must_be_revealed(deal, self.over, event)?;
        }
        match &event.payload {
            Some(Payload::DealCommitted(committed)) => {
                self.given.clear();
                let source = source(committed.source.as_ref(), &committed.commitment, &[]);
                self.commit((committed.game, committed.deal), &source)?;
            }
            Some(
                Payload::ReadyChanged(ReadyChanged { seat, nonce, .. })
                | Payload::RematchAsked(RematchAsked { seat, nonce }),
            ) => {
                let open = self.open.and_then(|key| self.promises.get(key));
                // By deal/2 they say nothing of nonces. We never say that we are not ready.
                if open.is_none_or(|open| open.rounds == 0) {
                    self.given.insert(*seat, nonce.clone());
                    self.compare_ours(event.seq)?;
                }
            }
            Some(Payload::NonceGiven(NonceGiven { seat, nonce })) => {
                self.given.insert(*seat, nonce.clone());
                self.compare_ours(event.seq)?;
            }
            Some(Payload::SeatTaken(taken)) => taken.seat.iter().for_each(|seat| self.sits(seat)),
            Some(
                Payload::SubstituteSeated(SubstituteSeated { seat, .. })
                | Payload::SeatLeft(SeatLeft { seat, .. }),
            ) => self.void(*seat),
            Some(Payload::GameStarted(game)) => {
                self.game = game.game;
                self.seats.clone_from(&game.seats);
                self.removed.clone_from(&game.removed_colours);
            }
            Some(Payload::DealStarted(deal)) => self.start(deal, event.seq)?,
            Some(Payload::CardsPlayed(played)) => self.count(played.seat, 1, &played.cards),
            Some(Payload::CardPickedUp(taken)) => self.count(taken.seat, -1, &[taken.card]),
            Some(Payload::DealEnded(ended)) => {
                for score in &ended.scores {
                    self.count(score.seat, 1, &score.remaining);
                }
                self.over = true;
                let deal = self.deal.and_then(|key| self.promises.get(key));
                if deal.is_some_and(|deal| deal.commitment.is_empty()) {
                    self.is_not_in_full("the server committed itself to nothing");
                }
            }
            Some(
                Payload::DealRevealed(DealRevealed { secret, .. })
                | Payload::StretchedDealRevealed(DealRevealed { secret, .. }),
            ) => {
                if let Some(key) = self.deal {
                    self.reveal(key, secret)?;
                }
            }
            Some(Payload::TableClosed(_)) => {
                self.is_not_in_full("the table was closed before its end");
            }
            _ => {}
        }
        Ok(())
    }

    /// Notes that a seat does not add to the next deal after all.
    fn void(&mut self, seat: i32) {
        self.given.remove(&seat);
        let open = self.open.and_then(|key| self.promises.get_mut(key));
        if let Some(open) = open.filter(|open| open.taken.is_some() && Some(seat) == self.seat) {
            open.taken = None;
            open.offered = false;
            open.gap = "the server says that we were away, so that our nonce is void";
        }
    }

    /// Takes in what the server says that a deal follows from.
    fn start(&mut self, started: &DealStarted, seq: i32) -> Result<(), Lie> {
        let key = (self.game, started.deal);
        let known = self.promises.get(key).is_some();
        let source = source(
            started.source.as_ref(),
            &started.commitment,
            &started.nonces,
        );
        let has_person = self.seats.iter().any(|seat| self.people.contains(seat));
        let deal = self.promises.note(key, &self.log, &source)?;
        if !known && !source.commitment.is_empty() {
            return Err(
                deal.lie("it follows from another commitment than the one before the nonces")
            );
        }
        if deal.terms.is_some() {
            return Err(deal.lie("it is dealt a second time"));
        }
        if source.key_rounds != key_rounds(deal.rounds, has_person) {
            return Err(deal.lie("its key was stretched less than it had to be"));
        }
        if has_person && source.key_rounds < ROUNDS {
            eprintln!(
                "deal {}: WARNING: its key is hardly stretched: a server could search",
                key.1
            );
        }
        for (seat, nonce) in self.seats.iter().zip(&source.nonces) {
            if nonce != self.given.get(seat).map_or(&[][..], Vec::as_slice) {
                return Err(deal.lie(format!("seat {seat} gave another nonce")));
            }
        }
        deal.hand = started.hand.as_ref().map(|hand| hand.cards.clone());
        deal.seen = seq;
        self.open = None;
        self.deal = Some(key);
        let terms = Terms {
            seats: self.seats.clone(),
            nonces: source.nonces,
            opener: started.opener,
            removed: self.removed.clone(),
            rounds: source.key_rounds,
        };
        self.begin(key, terms)
    }

    /// Notes what a deal starts from. Our own nonce has to be in it.
    fn begin(&mut self, key: Key, terms: Terms) -> Result<(), Lie> {
        self.over = false;
        let seats = terms.seats.iter();
        self.dealt = seats.map(|seat| (*seat, BTreeMap::new())).collect();
        let before = self.promises.get((key.0, key.1 - 1)).and_then(|before| {
            let terms = before.terms.as_ref()?;
            Some((before.log.clone(), terms.removed.clone()))
        });
        let Some(deal) = self.promises.get_mut(key) else {
            return Ok(());
        };
        let terms = deal.terms.insert(terms).clone();
        if before.is_some_and(|(log, removed)| log == deal.log && removed != terms.removed) {
            return Err(deal.lie("other colours have left than before"));
        }
        if deal.commitment.is_empty() {
            return Ok(());
        }
        if terms.nonces.len() != terms.seats.len() {
            return Err(deal.lie("it follows from too few nonces, or too many"));
        }
        for (seat, nonce) in terms.seats.iter().zip(&terms.nonces) {
            if nonce.len() > 32 {
                return Err(deal.lie(format!("seat {seat} gave another nonce")));
            }
            if Some(*seat) == self.seat {
                deal.must_be_ours(nonce)?;
            }
        }
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
    fn reveal(&mut self, key: Key, secret: &[u8]) -> Result<(), Lie> {
        let Some(deal) = self.promises.get_mut(key) else {
            return Ok(());
        };
        let Some(terms) = deal.terms.clone() else {
            return Ok(());
        };
        if commitment(secret, deal.rounds) != deal.commitment {
            return Err(deal.lie("the secret is not what the server committed itself to"));
        }
        if terms.rounds > MAX_ROUNDS {
            self.is_not_in_full("its key has more rounds than we compute");
            return Ok(());
        }
        let removed = terms.removed.iter();
        let removed: Vec<Colour> = removed
            .filter_map(|colour| Colour::try_from(*colour).ok())
            .collect();
        let order = if key.1 == 1 {
            let short = self.short_deck && terms.seats.len() == 2;
            let drawn = draw_first(secret, &terms.nonces, short, terms.rounds);
            if terms.seats[drawn.opener] != terms.opener || drawn.removed != removed {
                return Err(deal.lie("another seat had to open it, or other colours had to leave"));
            }
            drawn.order
        } else {
            draw_deal(secret, &terms.nonces, key.1, &removed, terms.rounds)
        };
        for (seat, hand) in terms.seats.iter().zip(order.chunks(9)) {
            let mut hand: Vec<i32> = hand.iter().map(|card| (*card).into()).collect();
            hand.sort_unstable();
            let shown = deal.hand.as_ref().filter(|_| Some(*seat) == self.seat);
            let counts = self.dealt.get_mut(seat);
            let fits = counts.is_none_or(|counts| {
                for card in &hand {
                    *counts.entry(*card).or_default() -= 1;
                }
                counts.values().all(|count| *count == 0)
            });
            if !fits || shown.is_some_and(|shown| *shown != hand) {
                return Err(deal.lie(format!("seat {seat} had to get other cards")));
            }
        }
        if !deal.gap.is_empty() {
            self.is_not_in_full(""); // it says why
            return Ok(());
        }
        let said = word(&deal.commitment, &terms.seats, &terms.nonces);
        eprintln!("deal {}: checked, word {said}", key.1);
        deal.told = true;
        self.deal = None;
        Ok(())
    }

    /// Says aloud that the deal that is being played, if one is, could not be checked in full.
    fn is_not_in_full(&mut self, reason: &str) {
        let deal = self.deal.take();
        if let Some(deal) = deal.and_then(|key| self.promises.get_mut(key)) {
            let reason = if deal.gap.is_empty() {
                reason
            } else {
                deal.gap
            };
            eprintln!("deal {}: NOT CHECKED IN FULL: {reason}", deal.key.1);
            deal.told = true;
            self.not_in_full += 1;
        }
    }
}

/// What a deal follows from: in a field of its own when it is by deal/2.
fn source(told: Option<&DealSource>, commitment: &[u8], nonces: &[Vec<u8>]) -> DealSource {
    told.cloned().unwrap_or_else(|| DealSource {
        commitment: commitment.to_vec(),
        nonces: nonces.to_vec(),
        ..DealSource::default()
    })
}

/// Complains of a deal that is over without its secret. Events that we do not know may come between.
fn must_be_revealed(deal: &Promise, over: bool, next: &Event) -> Result<(), Lie> {
    match &next.payload {
        None | Some(Payload::DealRevealed(_) | Payload::StretchedDealRevealed(_)) => Ok(()),
        Some(payload) if over || matches!(payload, Payload::DealStarted(_)) => {
            Err(deal.lie("the server committed itself to it and never revealed it"))
        }
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests;
