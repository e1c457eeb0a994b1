"""`odin-table verify`: whether a finished game was played and dealt as its file says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from odin_cli.speech.languages import _, ngettext

if TYPE_CHECKING:
    from odin_cli.games.game_file import SavedGame
    from odin_cli.games.verification import Verified

_NOT_SEALED = 10
"""The exit code when all adds up, but a file has no digests."""


@click.command(
    help="\n\n".join(
        (
            _("Play finished games again by the rules, and say whether they add up."),
            _(
                "GAME is a file, or the handle of a table; without it: the newest game. What was "
                "dealt has to follow from the server's secret and the players' bytes, every "
                "action has to be legal, and no byte of the file may have been changed. The exit "
                "code is 0 when all of that is so, 10 when nobody can tell whether a byte was "
                "changed since a file has no digests, else 1."
            ),
        )
    )
)
@click.argument("games", type=click.Path(), metavar=_("[GAME]..."), nargs=-1)
def command(games: tuple[str, ...]) -> int:
    """Verifies each of them."""
    from odin_cli.games.game_file import find
    from odin_cli.speech.complaints import complaint
    from odin_client.errors import ClientError

    wrong, sealed = False, True
    for name in games or (None,):
        try:
            sealed &= _verify(find(name))
        except ClientError as error:
            wrong = True
            click.echo(f"odin-table: {complaint(error)}", err=True)
    if wrong:
        return 1
    return 0 if sealed else _NOT_SEALED


def _verify(path: Path) -> bool:
    """Says what it finds; returns whether the file has digests. Raises ClientError."""
    from odin_cli.games.game_file import read
    from odin_cli.games.verification import WrongLineError, verify
    from odin_client.errors import ClientError

    game = read(path)
    try:
        verified = verify(game)
    except WrongLineError as error:
        raise ClientError(
            _("{path} does not add up: line {number}: {problem}.").format(
                path=path, number=error.line, problem=error.problem
            )
        ) from error
    for said in _report(path, game, verified):
        click.echo(said)
    return game.format > 1


def _report(path: Path, game: SavedGame, verified: Verified) -> list[str]:
    from odin_cli.speech.words import listed

    winners = [game.view.seats[seat].name for seat in game.events[-1].game_ended.winners]
    said = [
        _("{path} adds up: {deals}, {actions}, won by {names}.").format(
            path=path,
            deals=ngettext("{count} deal", "{count} deals", verified.deals).format(
                count=verified.deals
            ),
            actions=ngettext("{count} action", "{count} actions", verified.actions).format(
                count=verified.actions
            ),
            names=listed(winners),
        )
    ]
    if game.format == 1:
        said.append(
            _(
                "It is not sealed: it has no digests, so a changed name or time is not noticed. "
                "Files of the first version never had any; from others they can be taken away."
            )
        )
    if verified.uncommitted:
        said.append(
            ngettext(
                "{count} deal was not committed to: how its cards were chosen is not known.",
                "{count} deals were not committed to: how their cards were chosen is not known.",
                verified.uncommitted,
            ).format(count=verified.uncommitted)
        )
    if verified.added:
        said.append(
            _("Seats that added bytes: {counts}.").format(
                counts=listed(
                    [
                        ngettext(
                            "{added} of {seats} in {count} deal",
                            "{added} of {seats} in {count} deals",
                            count,
                        ).format(added=added, seats=seats, count=count)
                        for (added, seats), count in sorted(verified.added.items(), reverse=True)
                    ]
                )
            )
        )
        said.append(
            _("Words of the deals, to compare with others: {words}.").format(
                words=" ".join(verified.words)
            )
        )
    if verified.weak:
        said.append(
            ngettext(
                "{count} deal had a key that was hardly stretched: a server could have searched "
                "for a deck by telling players false bytes of each other.",
                "{count} deals had a key that was hardly stretched: a server could have searched "
                "for a deck by telling players false bytes of each other.",
                verified.weak,
            ).format(count=verified.weak)
        )
    if verified.not_computed:
        said.append(
            ngettext(
                "{count} deal was not checked: its key has more rounds than are computed.",
                "{count} deals were not checked: their keys have more rounds than are computed.",
                verified.not_computed,
            ).format(count=verified.not_computed)
        )
    if verified.unknown:
        said.append(
            ngettext(
                "{count} line is of a newer version and was stepped over.",
                "{count} lines are of a newer version and were stepped over.",
                verified.unknown,
            ).format(count=verified.unknown)
        )
    if verified.clock_back:
        said.append(_("The server's clock was put back meanwhile."))
    return [said[0], *(f"  {note}" for note in said[1:])]
