"""`odin-table play`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import click

from odin_cli.command_line import command_with, group, option
from odin_cli.options import Game, Sitting, Ui, check_level, level_option
from odin_cli.speech.languages import _
from odin_contract.limits import SEATS


@dataclass(frozen=True)
class PlayOptions:
    """Of `odin-table play`."""

    bots: int = option(
        "--bots",
        type=click.IntRange(1, SEATS[-1] - 1),
        default=3,
        show_default=True,
        help=_("How many opponents."),
    )
    level: str = level_option(_("How they play: random, greedy or hard."))
    game: Game = group(Game)
    pace: float | None = option(
        "--pace",
        type=click.FloatRange(0, 60),
        metavar="SECONDS",
        help=_("How long a bot waits before it acts (default: 0.6)."),
    )
    seed: int | None = option("--seed", type=int, help=_("Deal the same cards each time."))
    guided: bool | None = option(
        "--guide/--no-guide",
        default=None,
        help=_("Say in the first deal what to do (default: until you have finished a game)."),
    )
    sitting: Sitting = group(Sitting)

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


@command_with(
    PlayOptions,
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
def command(asked: PlayOptions) -> int:
    """Starts a server for this game alone, and plays at it."""
    from odin_cli.interface import run_in_loop

    return run_in_loop(play(asked))


async def play(asked: PlayOptions) -> int:
    """Plays against bots; raises UsageError for what does not fit."""
    from odin_cli.interface import log_file, run_interface
    from odin_cli.local.local_server import LocalServer
    from odin_client.connection.connection import Connection
    from odin_client.connection.credential import Credential
    from odin_client.session.session import Session

    options = asked.game.options(asked.bots + 1)
    check_level(asked.level)
    server = LocalServer.start("127.0.0.1:0", asked.server_options, tied=True, log=log_file())
    try:
        # Nobody comes back to this table after its server has ended: nothing is to be kept.
        connection = await Connection.open(server.address, Credential.new())
        try:
            session = await Session.open_table(connection, options)
            if asked.seed is not None:
                session.fresh_nonce = bytes  # the cards follow from the seed alone
            await session.take_seat(asked.sitting.name)
            for _bot in range(asked.bots):
                await session.add_bot(asked.level)
            # A program is shown the table before the first deal, else it could not check that deal.
            when_shown = session.ready if asked.sitting.ui is Ui.JSON else None
            if when_shown is None:
                await session.look()
                await session.ready()
            return await server.while_it_runs(
                run_interface(
                    session,
                    asked.sitting,
                    guided=asked.guided,
                    when_shown=when_shown,
                ),
                _("Nothing of this game was kept. `odin-table play` starts another one."),
            )
        finally:
            await connection.close()
    finally:
        await server.stop()
