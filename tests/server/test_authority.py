"""What only a host may do at a table, an operator may do as well, and nobody else."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from odin_contract.enums import Occupant
from odin_contract.values import Options as TableOptions
from odin_server.authority import Authority, Role
from odin_server.errors import Reason, Refusal
from odin_server.table import commands
from odin_server.table.dealing import Dealer, NotDrawnYet
from odin_server.table.draft import Draft
from odin_server.table.state import TableState
from tests.support.people import credential_of

HOST, GUEST = credential_of("Ann"), credential_of("Bob")


def at_a_table() -> Draft:
    """A draft at a table with its host, a guest and a bot."""
    dealer = Dealer()
    draft = Draft(TableState(), now=1, chance=random.Random(1), deal_pause=0, dealer=dealer)
    commands.open_table(draft, TableOptions(seats=4), HOST, "", "f0")
    commands.take_seat(draft, HOST, "Ann", None, Occupant.PERSON)
    commands.take_seat(draft, GUEST, "Bob", None, Occupant.PERSON)
    commands.add_bot(draft, Authority(HOST), "greedy", None, "", ("greedy",))
    return draft


HOST_ONLY: dict[str, Callable[[Draft, Authority], object]] = {
    "add_bot": lambda draft, by: commands.add_bot(draft, by, "greedy", None, "", ("greedy",)),
    "remove_bot": lambda draft, by: commands.remove_bot(draft, by, 2),
    "remove_seat": lambda draft, by: commands.remove_seat(draft, by, 1, ""),
    "start_game": commands.start_game,
    "close_table": commands.close_table,
}


@pytest.mark.parametrize("command", HOST_ONLY)
@pytest.mark.parametrize(
    ("by", "allowed"),
    [
        (Authority(HOST), True),
        (Authority(GUEST), False),
        (Authority(b""), False),
        (Authority(b"", Role.OPERATOR), True),
        (Authority(credential_of("Eve"), Role.OPERATOR), True),
    ],
)
def test_who_may_give_a_command_of_the_host(command: str, by: Authority, allowed: bool) -> None:
    draft = at_a_table()
    before = draft.state
    if allowed:
        try:
            HOST_ONLY[command](draft, by)
        except NotDrawnYet:
            assert command == "start_game"
        else:
            assert draft.state.seq > before.seq
        return
    with pytest.raises(Refusal) as refused:
        HOST_ONLY[command](draft, by)
    assert refused.value.reason is Reason.NOT_ALLOWED
    assert draft.state == before
