"""What holds for all tests."""

import functools
import hashlib
import signal
from collections.abc import Generator
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

from tests.support.often import TIMES

# How long an example takes says nothing on a loaded machine; pytest ends what hangs. The rest is
# as hypothesis has it, which on CI means the same examples each time.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


# A shell starts what runs in the background with an ignored SIGINT, and programs that are tested
# would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(params=range(TIMES))
def each_time() -> None:
    """Repeats the test that uses it (see `tests.support.often`)."""


@pytest.fixture(scope="session", autouse=True)
def no_settings(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    """Whoever runs the tests may have settings; programs that are tested have none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("settings")))
        yield


@pytest.fixture(scope="session", autouse=True)
def keys_stretched_once() -> Generator[None]:
    """A server and its clients in one process, and one loop, stretch each key once together."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashlib, "pbkdf2_hmac", functools.lru_cache(1000)(_on_bytes))
        yield


_pbkdf2: Final = hashlib.pbkdf2_hmac


def _on_bytes(name: str, password: bytes, salt: bytes, iterations: int) -> bytes:
    return _pbkdf2(name, password, salt, iterations)
