//! Deals by events and snapshots that are made here.

use super::*;
use crate::contract::{EventBatch, GameStarted};

const PROMISED: &[u8] = b"what the server has committed itself to";

/// A table of two whose game is over: our seat is the first one. By deal/1 without rounds.
fn waiting(rounds: i32, nonce: &[u8]) -> TableView {
    let seats = [nonce, b""].into_iter().zip(0..);
    let mut view = TableView {
        log_id: "log".to_owned(),
        seq: 10,
        your_seat: Some(0),
        seats: seats
            .map(|(nonce, seat)| Seat {
                seat,
                nonce: nonce.to_vec(),
                ..Seat::default()
            })
            .collect(),
        ..TableView::default()
    };
    view.set_phase(TablePhase::GameOver);
    if rounds == 0 {
        view.commitment = PROMISED.to_vec();
    } else {
        view.source = Some(DealSource {
            commitment: PROMISED.to_vec(),
            rounds,
            ..DealSource::default()
        });
    }
    view
}

fn events(payloads: Vec<Payload>) -> WatchTableResponse {
    let events = payloads.into_iter().zip(11..);
    let events = events.map(|(payload, seq)| Event {
        seq,
        payload: Some(payload),
        ..Event::default()
    });
    WatchTableResponse {
        item: Some(Item::Events(EventBatch {
            events: events.collect(),
        })),
    }
}

#[test]
fn the_nonce_of_rematch_asked_counts() {
    let nonce = b"theirs".to_vec();
    let mut check = DealCheck::default();
    check.restart(&waiting(0, b"")).unwrap();
    let asked = RematchAsked {
        seat: 1,
        nonce: nonce.clone(),
    };
    let game = GameStarted {
        game: 1,
        seats: vec![0, 1],
        ..GameStarted::default()
    };
    let deal = DealStarted {
        deal: 1,
        commitment: PROMISED.to_vec(),
        nonces: vec![vec![], nonce],
        ..DealStarted::default()
    };
    let seen = check.apply(&events(vec![
        Payload::RematchAsked(asked),
        Payload::GameStarted(game),
        Payload::DealStarted(deal),
    ]));
    seen.unwrap();
}

#[test]
fn a_nonce_that_went_with_the_seat_is_ours_once_it_is_shown() {
    let mut check = DealCheck::default();
    check.restart(&waiting(ROUNDS, b"")).unwrap();
    let early = check.early_offer().unwrap();
    check.restart(&waiting(ROUNDS, b"")).unwrap();
    assert_eq!(check.early_offer().as_ref(), Some(&early));
    check.restart(&waiting(ROUNDS, &early.nonce)).unwrap();
    assert_eq!(check.early_offer(), None);
    assert!(check.restart(&waiting(ROUNDS, b"")).is_err());
}
