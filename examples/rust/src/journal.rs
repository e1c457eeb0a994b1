//! What everybody could see, as lines of JSON: the events in protobuf's JSON mapping, then the result.

use std::io::{Result, Write};

use serde_json::json;

use crate::contract::event::Payload;
use crate::contract::watch_table_response::Item;
use crate::contract::{Event, WatchTableResponse};
use crate::table::Table;

pub struct Journal<Out: Write>(pub Out);

impl<Out: Write> Journal<Out> {
    /// Writes the public part of the events of an item.
    pub fn note(&mut self, response: &WatchTableResponse) -> Result<()> {
        if let Some(Item::Events(batch)) = &response.item {
            for event in &batch.events {
                // prost has no JSON for a value of an enum that is newer than this client.
                match serde_json::to_string(&public_part(event)) {
                    Ok(line) => writeln!(self.0, "{line}")?,
                    Err(problem) => eprintln!("event {} is not written: {problem}", event.seq),
                }
            }
        }
        Ok(())
    }

    /// Writes the result.
    pub fn close(&mut self, table: &Table) -> Result<()> {
        let result = json!({"winners": table.winners, "totals": table.totals});
        writeln!(self.0, "{result}")
    }
}

/// An event without what only our seat may see of it.
fn public_part(event: &Event) -> Event {
    let mut event = event.clone();
    match &mut event.payload {
        Some(Payload::DealStarted(deal)) => deal.hand = None,
        Some(Payload::DecisionOpened(opened)) => {
            if let Some(decision) = &mut opened.decision {
                decision.choices = None;
            }
        }
        _ => {}
    }
    event
}
