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

/// Rounds of PBKDF2 that make the key of a deal with people; fewer are worth a warning.
pub const ROUNDS: i32 = 100_000;
/// As many rounds as we compute.
pub const MAX_ROUNDS: i32 = 1_000_000;

/// What the server publishes of a secret before it accepts the first nonce. It binds the rounds of
/// deal/2; 0 stands for deal/1.
pub fn commitment(secret: &[u8], rounds: i32) -> Vec<u8> {
    let hash = if rounds == 0 {
        Sha256::new_with_prefix("odin-table/commit/1\n")
    } else {
        Sha256::new_with_prefix("odin-table/commit/2\n").chain_update(rounds.to_be_bytes())
    };
    hash.chain_update(secret).finalize().to_vec()
}

/// The rounds of a deal's key: one when no person plays in it.
pub fn key_rounds(rounds: i32, has_person: bool) -> i32 {
    if has_person { rounds } else { rounds.min(1) }
}

/// Six letters for players to compare aloud: the same for all who were told the same.
pub fn word(commitment: &[u8], seats: &[i32], nonces: &[Vec<u8>]) -> String {
    let mut hash = Sha256::new_with_prefix("odin-table/word/1\n");
    hash.update(commitment);
    hash.update([length(seats)]);
    for (seat, nonce) in seats.iter().zip(nonces) {
        hash.update([seat.to_be_bytes()[3], length(nonce)]);
        hash.update(nonce);
    }
    let digest = hash.finalize();
    let bits = digest[..4]
        .iter()
        .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
    let letters = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    (0..6)
        .map(|place| char::from(letters[(bits >> (27 - 5 * place) & 31) as usize]))
        .collect()
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

/// Works out the first deal of a game. There is one nonce per player; the rounds are the key's.
pub fn draw_first(secret: &[u8], nonces: &[Vec<u8>], short_deck: bool, rounds: i32) -> FirstDraw {
    let mut draws = Draws::new(secret, nonces, 1, rounds);
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
pub fn draw_deal(
    secret: &[u8],
    nonces: &[Vec<u8>],
    deal: i32,
    removed: &[Colour],
    rounds: i32,
) -> Vec<Card> {
    Draws::new(secret, nonces, deal, rounds).shuffled(removed)
}

/// Numbers without bias, from one stream of bytes.
struct Draws {
    key: Vec<u8>,
    block: u32,
    bytes: vec::IntoIter<u8>,
}

impl Draws {
    fn new(secret: &[u8], nonces: &[Vec<u8>], deal: i32, rounds: i32) -> Self {
        let form = if rounds == 0 { 1 } else { 2 };
        let mut message = format!("odin-table/deal/{form}\n").into_bytes();
        message.extend(deal.to_be_bytes());
        message.push(length(nonces));
        for nonce in nonces {
            message.push(length(nonce));
            message.extend(nonce);
        }
        Self {
            key: stretched(secret, &message, rounds),
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
    mac(key)
        .chain_update(message)
        .finalize()
        .into_bytes()
        .to_vec()
}

fn mac(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes keys of any length")
}

/// The key of a deal: the first block of PBKDF2, or for deal/1 (0 rounds) a plain digest.
fn stretched(secret: &[u8], message: &[u8], rounds: i32) -> Vec<u8> {
    if rounds == 0 {
        return digest(secret, message);
    }
    let fresh = mac(secret);
    let first = fresh
        .clone()
        .chain_update(message)
        .chain_update([0, 0, 0, 1]);
    let mut round = first.finalize().into_bytes();
    let mut key = round.to_vec();
    for _ in 1..rounds {
        round = fresh.clone().chain_update(round).finalize().into_bytes();
        for (byte, more) in key.iter_mut().zip(round) {
            *byte ^= more;
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const VECTORS: [&str; 2] = [
        include_str!("../../../tests/engine/fair_deal/vectors.json"),
        include_str!("../../../tests/engine/fair_deal/vectors_2.json"),
    ];

    #[test]
    fn the_vectors_of_the_specification() {
        let parse = |text| serde_json::from_str::<Vec<Value>>(text).unwrap();
        let vectors: Vec<Value> = VECTORS.into_iter().flat_map(parse).collect();
        assert!(!vectors.is_empty());
        for vector in vectors {
            let secret = bytes(&vector["secret"]);
            let promised = number(&vector["rounds"]);
            assert_eq!(commitment(&secret, promised), bytes(&vector["commitment"]));
            let nonces: Vec<_> = list(&vector["nonces"]).iter().map(bytes).collect();
            let seats: Vec<_> = list(&vector["seats"]).iter().map(number).collect();
            let said = word(&commitment(&secret, promised), &seats, &nonces);
            assert_eq!(vector["word"], said);
            let rounds = key_rounds(promised, vector["has_person"].as_bool().unwrap_or(true));
            assert_eq!(rounds, number(&vector["key_rounds"]));
            let removed: Vec<_> = list(&vector["removed"]).iter().map(colour).collect();
            let order: Vec<_> = list(&vector["order"]).iter().map(card).collect();
            let deal = number(&vector["deal"]);
            if deal == 1 {
                let short_deck = vector["short_deck"].as_bool().unwrap();
                let drawn = draw_first(&secret, &nonces, short_deck, rounds);
                assert_eq!(vector["first_opener"], drawn.opener);
                assert_eq!(drawn.removed, removed);
                assert_eq!(drawn.order, order);
            } else {
                let drawn = draw_deal(&secret, &nonces, deal, &removed, rounds);
                assert_eq!(drawn, order);
            }
        }
    }

    /// A number, or 0 where there is none: what only deal/2 has.
    fn number(value: &Value) -> i32 {
        i32::try_from(value.as_i64().unwrap_or(0)).unwrap()
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
