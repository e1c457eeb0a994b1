//! What chance decides in a deal, worked out again from the bytes that the server reveals after it, as
//! docs/fair-deal.md specifies.

use std::vec;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::contract::{Card, Colour};

const COLOURS: [Colour; 6] = [
    Colour::Red,
    Colour::Orange,
    Colour::Yellow,
    Colour::Green,
    Colour::Blue,
    Colour::Violet,
];

/// What the server publishes of a secret before it accepts the first nonce.
pub fn commitment(secret: &[u8]) -> Vec<u8> {
    let hash = Sha256::new_with_prefix("odin-table/commit/1\n");
    hash.chain_update(secret).finalize().to_vec()
}

/// What chance decides in the first deal of a game.
pub struct FirstDraw {
    /// The player who opens the deal, from 0.
    pub opener: usize,
    /// The two colours that leave a short deck, or none.
    pub removed: Vec<Colour>,
    /// The cards, in the order in which they are dealt.
    pub order: Vec<Card>,
}

/// Works out the first deal of a game. There is one nonce per player.
pub fn draw_first(secret: &[u8], nonces: &[Vec<u8>], short_deck: bool) -> FirstDraw {
    let mut draws = Draws::new(secret, nonces, 1);
    let opener = draws.below(nonces.len());
    let mut left = COLOURS.to_vec();
    if short_deck {
        left.remove(draws.below(left.len()));
        left.remove(draws.below(left.len()));
    }
    let mut removed = COLOURS.to_vec();
    removed.retain(|colour| !left.contains(colour));
    let order = draws.shuffled(&removed);
    FirstDraw {
        opener,
        removed,
        order,
    }
}

/// Works out the order of the cards in a later deal, numbered from 2.
pub fn draw_deal(secret: &[u8], nonces: &[Vec<u8>], deal: i32, removed: &[Colour]) -> Vec<Card> {
    Draws::new(secret, nonces, deal).shuffled(removed)
}

/// Numbers without bias, from one stream of bytes.
struct Draws {
    key: Vec<u8>,
    block: u32,
    bytes: vec::IntoIter<u8>,
}

impl Draws {
    fn new(secret: &[u8], nonces: &[Vec<u8>], deal: i32) -> Self {
        let mut message = b"odin-table/deal/1\n".to_vec();
        message.extend(deal.to_be_bytes());
        message.push(length(nonces));
        for nonce in nonces {
            message.push(length(nonce));
            message.extend(nonce);
        }
        Self {
            key: digest(secret, &message),
            block: 0,
            bytes: Vec::new().into_iter(),
        }
    }

    /// Draws a number from 0 to bound - 1. Bytes that would favour the low numbers are thrown away.
    fn below(&mut self, bound: usize) -> usize {
        loop {
            let drawn = usize::from(self.byte());
            if drawn < 256 - 256 % bound {
                return drawn % bound;
            }
        }
    }

    fn byte(&mut self) -> u8 {
        loop {
            if let Some(byte) = self.bytes.next() {
                return byte;
            }
            self.bytes = digest(&self.key, &self.block.to_be_bytes()).into_iter();
            self.block += 1;
        }
    }

    /// The deck without the removed colours, in the order in which it is dealt.
    fn shuffled(&mut self, removed: &[Colour]) -> Vec<Card> {
        let mut cards: Vec<Card> = (1..=54)
            .filter_map(|card| Card::try_from(card).ok())
            .filter(|&card| !removed.contains(&COLOURS[(card as usize - 1) / 9]))
            .collect();
        for last in (1..cards.len()).rev() {
            let chosen = self.below(last + 1);
            cards.swap(last, chosen);
        }
        cards
    }
}

/// A length in one byte.
fn length<T>(of: &[T]) -> u8 {
    u8::try_from(of.len()).expect("whoever calls has looked at the lengths")
}

fn digest(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.chain_update(message).finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const VECTORS: &str = include_str!("../../../tests/engine/fair_deal/vectors.json");

    #[test]
    fn the_vectors_of_the_specification() {
        let vectors: Vec<Value> = serde_json::from_str(VECTORS).unwrap();
        assert!(!vectors.is_empty());
        for vector in vectors {
            let secret = bytes(&vector["secret"]);
            assert_eq!(commitment(&secret), bytes(&vector["commitment"]));
            let nonces: Vec<_> = list(&vector["nonces"]).iter().map(bytes).collect();
            let removed: Vec<_> = list(&vector["removed"]).iter().map(colour).collect();
            let order: Vec<_> = list(&vector["order"]).iter().map(card).collect();
            let deal = i32::try_from(vector["deal"].as_i64().unwrap()).unwrap();
            if deal == 1 {
                let short_deck = vector["short_deck"].as_bool().unwrap();
                let drawn = draw_first(&secret, &nonces, short_deck);
                assert_eq!(vector["first_opener"], drawn.opener);
                assert_eq!(drawn.removed, removed);
                assert_eq!(drawn.order, order);
            } else {
                assert_eq!(draw_deal(&secret, &nonces, deal, &removed), order);
            }
        }
    }

    fn list(value: &Value) -> &[Value] {
        value.as_array().unwrap()
    }

    fn bytes(value: &Value) -> Vec<u8> {
        let (pairs, odd) = value.as_str().unwrap().as_bytes().as_chunks::<2>();
        assert!(odd.is_empty());
        pairs
            .iter()
            .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }

    fn card(value: &Value) -> Card {
        Card::from_str_name(&format!("CARD_{}", value.as_str().unwrap())).unwrap()
    }

    fn colour(value: &Value) -> Colour {
        COLOURS["ROYGBV".find(value.as_str().unwrap()).unwrap()]
    }
}
