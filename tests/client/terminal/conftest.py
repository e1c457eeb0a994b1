"""What holds for the tests of the full screen."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from odin_cli.speech.languages import ENGLISH, LANGUAGES, use


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> Generator[str]:
    """A language, while the test runs."""
    use(request.param)
    yield request.param
    use(ENGLISH)
