"""`odin-table play`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

from odin_cli.options import (
    Ui,
    check_level,
    clock,
    clock_of,
    ending,
    level_of_bots,
    sits_down,
    threshold_of,
)
from odin_cli.speech.languages import _

if TYPE_CHECKING:
    from odin_contract.values import Options


@dataclass(frozen=True)
class _Wish:
    """What was asked for."""

    options: Options
    level: str
    pace: float | None
    seed: int | None
    name: str
    ui: Ui
    colour: str | None
    guided: bool | None
    """None: when it is the first game."""

    @property
    def server_options(self) -> list[str]:
        """For the server that this game gets."""
        options = ["--store", "memory"]
        if self.pace is not None:
            options += ["--set", f"bot_delay={self.pace}"]
        if self.seed is not None:
            options += ["--seed", str(self.seed)]
        return options


_FORM: Final = """\
\b
Out: {"watchTable": {"snapshot": ...}}    the table at the start
     {"watchTable": {"events": ...}}      what happens, and whose decision it is
     {"act": {"seq": 12}}                 the answer to a call
     {"error": {"call", "code", "reason", "message", "metadata"}}
In:  {"act": {"decisionId": 11, "action": {"playCards":
         {"cards": ["CARD_B9", "CARD_B6"], "pickUp": "CARD_G4"}}}}
     {"act": {"decisionId": 11, "action": {"passTurn": {}}}}
     {"setReady": {"ready": true}}        for the next deal
     {"rematch": {}}                      and any other call of the contract
"""
"""For programs, hence the same in every language; the first line keeps click from wrapping it."""


def _help() -> str:
    return "\n\n".join(
        (
            _("Play against bots, here and now."),
            _("The game runs on a server of its own on this machine, which ends with it."),
            _(
                "With --ui json a program plays, one JSON object per line. Each has one key, and "
                "under it a message of the contract in protobuf's JSON mapping."
            ),
            _FORM,
            _(
                "A decision that is open already stands in the snapshot (snapshot.decision), later "
                "ones come as events (decisionOpened): a program looks in both."
            ),
            _(
                "A decision of one's own brings all that may be chosen (choices) and a default "
                "action (choices.defaultAction), which may be sent back as it is. The table and a "
                "request id are filled in."
            ),
        )
    )


@click.command(help=_help())
@click.option(
    "--bots", type=click.IntRange(1, 5), default=3, show_default=True, help=_("How many opponents.")
)
@level_of_bots(_("How they play: random, greedy or hard."))
@ending
@clock
@click.option(
    "--pace",
    type=click.FloatRange(0, 60),
    metavar="SECONDS",
    help=_("How long a bot waits before it acts (default: 0.6)."),
)
@click.option("--seed", type=int, help=_("Deal the same cards each time."))
@click.option(
    "--guide/--no-guide",
    "guided",
    default=None,
    help=_("Say in the first deal what to do (default: until you have finished a game)."),
)
@sits_down
def command(
    bots: int,
    level: str,
    threshold: int | None,
    single_deal: bool,
    full_deck: bool,
    turn_time: int | None,
    bank: int,
    pace: float | None,
    seed: int | None,
    guided: bool | None,
    name: str,
    ui: Ui,
    colour: str | None,
) -> int:
    """Starts a server for this game alone, and plays at it."""
    from odin_cli.interface import run_in_loop
    from odin_contract.values import Options

    to = threshold_of(threshold, single_deal)
    time = clock_of(turn_time, bank)
    check_level(level)
    options = Options(
        seats=bots + 1,
        threshold=to,
        short_deck=not full_deck,
        open_to_bots=False,
        turn_time=time[0],
        bank=time[1],
    )
    return run_in_loop(_play(_Wish(options, level, pace, seed, name, ui, colour, guided)))


async def _play(wish: _Wish) -> int:
    from odin_cli.interface import log_file, run_interface
    from odin_cli.local.local_server import LocalServer
    from odin_client.connection.connection import Connection
    from odin_client.connection.credential_store import Credential
    from odin_client.session.session import Session

    server = LocalServer.start("127.0.0.1:0", wish.server_options, tied=True, log=log_file())
    try:
        # Nobody comes back to this table after its server has ended: nothing is to be kept.
        connection = await Connection.open(server.address, Credential.new())
        try:
            session = await Session.open_table(connection, wish.options)
            if wish.seed is not None:
                session.fresh_nonce = bytes  # the cards follow from the seed alone
            await session.take_seat(wish.name)
            for _bot in range(wish.options.seats - 1):
                await session.add_bot(wish.level)
            # A program is shown the table before the first deal, else it could not check that deal.
            when_shown = session.ready if wish.ui is Ui.JSON else None
            if when_shown is None:
                await session.look()
                await session.ready()
            return await server.while_it_runs(
                run_interface(
                    session,
                    wish.ui,
                    colour=wish.colour,
                    guided=wish.guided,
                    when_shown=when_shown,
                ),
                _("Nothing of this game was kept. `odin-table play` starts another one."),
            )
        finally:
            await connection.close()
    finally:
        await server.stop()
