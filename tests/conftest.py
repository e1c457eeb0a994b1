"""What holds for all tests."""

from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

from tests.often import TIMES

# How long an example takes says nothing on a loaded machine; pytest ends what hangs. The rest is
# as hypothesis has it, which on CI means the same examples each time.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture(params=range(TIMES))
def each_time() -> None:
    """Repeats the test that uses it (see `tests.often`)."""


@pytest.fixture(scope="session", autouse=True)
def no_settings(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    """Whoever runs the tests may have settings; programs that are tested have none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("settings")))
        yield
