"""What a person can ask of a table: a `Session` asks the server, the tutorial answers itself."""

from __future__ import annotations

from typing import Protocol

from odin_contract.values import Action, Seat


class TableCalls(Protocol):
    """The calls behind the keys of the full-screen client. A refusal is raised as a ClientError."""

    async def act(self, action: Action, *, decision_id: int | None = None) -> object:
        """Plays cards, picks up or passes."""
        ...

    async def ready(self, ready: bool = True) -> None:
        """Says whether one is ready for the game or the next deal."""
        ...

    async def start(self) -> None:
        """Starts the game or the next deal."""
        ...

    async def rematch(self) -> None:
        """Asks for another game."""
        ...

    async def add_bot(self, level: str = "", *, seat: int | None = None) -> object:
        """Seats a built-in bot."""
        ...

    async def remove_bot(self, seat: int) -> None:
        """Removes a built-in bot."""
        ...

    async def free_seat(self, seat: Seat) -> None:
        """Removes the player of a seat."""
        ...

    async def chat(self, text: str) -> None:
        """Sends a chat message."""
        ...

    async def leave(self) -> None:
        """Gives the seat up."""
        ...

    async def close_table(self) -> None:
        """Closes the table for everybody."""
        ...

    def retry_now(self) -> None:
        """Reconnects now instead of after the pause."""
        ...
