"""What tests with a verb of their own need of a machine: other languages, a browser."""

from __future__ import annotations

import os

import pytest


def need(*missing: str) -> None:
    """Leaves the test out where programs are missing; on CI that is a failure."""
    if missing:
        reason = f"This needs {', '.join(missing)}."
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
