"""Who somebody is at the table who has not said so."""

from __future__ import annotations

import getpass
import socket

import click
import pytest

from odin_cli.local.preferences import Preferences
from odin_cli.options import usual_name
from odin_server.table.commands import BOT_NAMES


@pytest.fixture
def login(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A command that is asked for the usual name, with an empty file of settings."""
    context = click.Context(click.Command("join"), obj=Preferences())
    monkeypatch.setattr(click, "get_current_context", lambda: context)
    return monkeypatch


def test_a_login_is_a_name(login: pytest.MonkeyPatch) -> None:
    login.setattr(getpass, "getuser", lambda: "zoe")
    assert usual_name() == "zoe"


@pytest.mark.parametrize("shared", ["root", "Administrator", "ubuntu", ""])
def test_a_login_that_many_have_is_none(login: pytest.MonkeyPatch, shared: str) -> None:
    login.setattr(getpass, "getuser", lambda: shared)
    names: set[str] = set()
    for machine in range(40):
        host = f"machine-{machine}"
        login.setattr(socket, "gethostname", lambda host=host: host)
        name = usual_name()
        assert name == usual_name(), "a seat is found again by its name"
        assert name not in (shared, *BOT_NAMES)
        names.add(name)
    assert len(names) > 10, "two people called root are seldom called alike"
