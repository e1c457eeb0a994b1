//! How this client plays. Here is the place to put a better idea.

use rand::seq::IndexedRandom;

use crate::contract::action::Action as Kind;
use crate::contract::{Action, Choices, Decision, DecisionKind, PassTurn, PickUp, PlayCards};

/// Answers a decision; None leaves it to the clock. The server has listed all that is legal, so no
/// rule is needed: this chooses by chance among the plays, and passes now and then.
pub fn choose(decision: &Decision) -> Option<Action> {
    let choices = decision.choices.as_ref()?;
    let kind = match decision.kind() {
        DecisionKind::PickUp => pick_up(choices),
        DecisionKind::Respond if rand::random_ratio(1, 5) => Some(Kind::PassTurn(PassTurn {})),
        DecisionKind::Open | DecisionKind::Respond => play(choices),
        DecisionKind::Unspecified => None,
    };
    kind.map(|kind| Action { action: Some(kind) })
        .or_else(|| choices.default_action.clone())
}

fn play(choices: &Choices) -> Option<Kind> {
    let play = choices.plays.choose(&mut rand::rng())?;
    // Named now and then, so that both ways are seen: without it, the next decision asks for it.
    let named = choices.pick_ups.choose(&mut rand::rng());
    let pick_up = named.filter(|_| !play.goes_out && rand::random()).copied();
    Some(Kind::PlayCards(PlayCards {
        cards: play.cards.clone(),
        pick_up: pick_up.unwrap_or_default(),
    }))
}

fn pick_up(choices: &Choices) -> Option<Kind> {
    let card = *choices.pick_ups.choose(&mut rand::rng())?;
    Some(Kind::PickUp(PickUp { card }))
}
