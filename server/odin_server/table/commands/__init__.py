"""What may be done to a table: each command checks, and adds events to a draft. Pure.

A command raises Refusal or adds events; a refused draft is thrown away, so nothing has changed.
Time and chance are the draft's, and so is what follows on its own, such as the next decision
(`Draft.add_game_events`). That a deal starts is a command (`start_due`), since drawing it may take
time: `deal_due` says when.
"""

from odin_server.table.commands.games import (
    PROGRAM_WAIT,
    check_options,
    close_empty_table,
    close_table,
    deal_due,
    next_deal,
    open_table,
    rematch,
    set_ready,
    start_due,
    start_game,
)
from odin_server.table.commands.nonces import NO_NONCE, Nonce, give_nonce
from odin_server.table.commands.phases import LIFE, check_phase
from odin_server.table.commands.play import act, act_for_bot, bot_failed, give_back_time, time_out
from odin_server.table.commands.seats import (
    BOT_NAMES,
    SUBSTITUTE_LEVEL,
    add_bot,
    away_command,
    come_back,
    host_away,
    leave_seat,
    remove_bot,
    remove_seat,
    resume_seat,
    take_seat,
)

__all__ = [
    "BOT_NAMES",
    "LIFE",
    "NO_NONCE",
    "PROGRAM_WAIT",
    "SUBSTITUTE_LEVEL",
    "Nonce",
    "act",
    "act_for_bot",
    "add_bot",
    "away_command",
    "bot_failed",
    "check_options",
    "check_phase",
    "close_empty_table",
    "close_table",
    "come_back",
    "deal_due",
    "give_back_time",
    "give_nonce",
    "host_away",
    "leave_seat",
    "next_deal",
    "open_table",
    "rematch",
    "remove_bot",
    "remove_seat",
    "resume_seat",
    "set_ready",
    "start_due",
    "start_game",
    "take_seat",
    "time_out",
]
