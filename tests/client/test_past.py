"""Who comes, or comes back, to a table is told what happened there: no log starts empty."""

from __future__ import annotations

from odin_cli.terminal.views.log import Log
from odin_client.session.past import told_again
from odin_client.session.session import Session
from odin_contract.enums import Phase
from odin_contract.values import Options
from tests.client.conftest import Connect, seated
from tests.client.test_table import lowest_play


async def test_what_was_played_and_said_is_told_again_in_its_order(connect: Connect) -> None:
    ann, bob = await seated(connect, "Ann", "Bob", options=Options(seats=2, threshold=None))
    handle = ann.table.table
    await ann.start()
    for _ in range(3):
        for one in (ann, bob):
            await one.look()
        acting = next(one for one in (ann, bob) if one.table.my_turn)
        await acting.act(lowest_play(acting.table))
        await ann.chat(f"well, {acting.table.seq}")

    watcher = Session(await connect(), handle)
    async for _ in watcher.follow():
        if watcher.table.chat:  # it comes right after the snapshot
            break
    log = Log()
    async for update, then in told_again(watcher):
        log.hear(update, then)
    assert any("Game 1 starts" in entry for entry in log)
    told = [e for e in log if "well" in e or "passed" in e or "(" in e]
    # Each line of chat stands behind the play after which it was said.
    kinds = ["chat" if "well" in entry else "play" for entry in told]
    assert kinds == ["play", "chat"] * 3
    assert watcher.table.phase is Phase.PLAYING
