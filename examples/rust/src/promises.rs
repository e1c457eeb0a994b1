//! What the server can be held to: a snapshot takes the place of all that a Table knows, and a server
//! may send one whenever it likes. So promises are kept apart, for the life of the process.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use crate::contract::DealSource;

/// What the server says of a deal and what contradicts what it said before. Do not play on.
#[derive(Debug)]
pub struct Lie {
    deal: i32,
    problem: String,
}

impl fmt::Display for Lie {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "deal {}: THE SERVER LIES: {}", self.deal, self.problem)
    }
}

impl Error for Lie {}

/// Names a deal of a table: its game, and its number in that.
pub type Key = (i32, i32);

/// What a deal starts from, besides its commitment.
#[derive(Clone, PartialEq)]
pub struct Terms {
    pub seats: Vec<i32>,
    pub nonces: Vec<Vec<u8>>,
    pub opener: i32,
    pub removed: Vec<i32>,
    /// Of its key; 0 for a deal by deal/1.
    pub rounds: i32,
}

/// What we add to a deal, so that the server does not choose the cards alone.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Offer {
    pub nonce: Vec<u8>,
    /// Which the nonce is for.
    pub commitment: Vec<u8>,
    /// What the commitment binds; 0 for a deal by deal/1.
    pub rounds: i32,
}

/// What is known of one deal. Bytes that there are not are empty.
pub struct Promise {
    pub key: Key,
    /// The log in which the server spoke of it last.
    pub log: String,
    /// Empty: the server committed itself to nothing.
    pub commitment: Vec<u8>,
    /// What the commitment binds; 0 for a deal by deal/1.
    pub rounds: i32,
    /// What we add before we are ready, and when we are: always the same two, so that a server cannot
    /// ask until it likes the cards; and two, since a server that knows a nonce early has long to
    /// search for a deck that it likes.
    early: Vec<u8>,
    nonce: Vec<u8>,
    /// Whether we have tried to add something.
    pub offered: bool,
    /// Which of our nonces the server has.
    pub taken: Option<Vec<u8>>,
    /// The event after which it has it.
    pub taken_at: i32,
    /// What it started from, once it has.
    pub terms: Option<Terms>,
    /// What we were dealt, if we saw it.
    pub hand: Option<Vec<i32>>,
    /// The last event of it that we saw.
    pub seen: i32,
    /// Why it is not checked in full, or empty.
    pub gap: &'static str,
    /// Whether we have said what came of it.
    pub told: bool,
}

impl Promise {
    fn new(key: Key, log: &str, source: &DealSource) -> Self {
        Self {
            key,
            log: log.to_owned(),
            commitment: source.commitment.clone(),
            rounds: source.rounds,
            early: rand::random::<[u8; 32]>().to_vec(),
            nonce: rand::random::<[u8; 32]>().to_vec(),
            offered: false,
            taken: None,
            taken_at: 0,
            terms: None,
            hand: None,
            seen: 0,
            gap: "",
            told: false,
        }
    }

    /// What we add to it: early, or when we are ready.
    pub fn offer(&self, early: bool) -> Offer {
        let nonce = if early { &self.early } else { &self.nonce };
        Offer {
            nonce: nonce.clone(),
            commitment: self.commitment.clone(),
            rounds: self.rounds,
        }
    }

    /// Compares the nonce of our seat, by what the server says, with the one that it took. One that
    /// went with the seat is known to be taken when the server shows it.
    pub fn must_be_ours(&mut self, nonce: &[u8]) -> Result<(), Lie> {
        if self.taken.as_ref().is_some_and(|taken| nonce != taken) {
            return Err(self.lie("it left out our nonce, which it had taken"));
        }
        if nonce == self.early {
            self.taken = Some(nonce.to_vec());
        }
        Ok(())
    }

    pub fn lie(&self, problem: impl Into<String>) -> Lie {
        lie(self.key, problem)
    }
}

fn lie((_, deal): Key, problem: impl Into<String>) -> Lie {
    let problem = problem.into();
    Lie { deal, problem }
}

/// All that this server has promised at our table.
#[derive(Default)]
pub struct Promises(BTreeMap<Key, Promise>);

impl Promises {
    pub fn get(&self, key: Key) -> Option<&Promise> {
        self.0.get(&key)
    }

    pub fn get_mut(&mut self, key: Key) -> Option<&mut Promise> {
        self.0.get_mut(&key)
    }

    /// Compares what the server says that a deal follows from with what it said before. In another
    /// log that may be something else: then the table was set back, as from a backup.
    pub fn note(&mut self, key: Key, log: &str, source: &DealSource) -> Result<&mut Promise, Lie> {
        let commitment = &source.commitment;
        let used = |other: &Promise| other.key != key && other.commitment == *commitment;
        if !commitment.is_empty() && self.0.values().any(used) {
            return Err(lie(key, "it is committed to the secret of another deal"));
        }
        let mut promise = Promise::new(key, log, source);
        if let Some(known) = self.0.remove(&key) {
            let same = known.commitment == *commitment && known.rounds == source.rounds;
            if known.log == log && !same {
                return Err(
                    known.lie("it follows from another commitment than the one before the nonces")
                );
            }
            if !same || known.taken.is_some() || known.terms.is_some() {
                promise.gap = "the table was set back";
            }
            if known.log == log {
                promise = known;
            } else if same {
                promise.early = known.early;
                promise.nonce = known.nonce;
            }
        }
        Ok(self.0.entry(key).or_insert(promise))
    }
}
