"""Calls that must raise, for the labs' tests: the message says which exception was expected, and what came instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def must_raise(kind: type[Exception], why: str, call: Callable[..., Any], *arguments: Any) -> Exception:
    """The exception that the call raises. Another one, or none, fails with ``why`` and what the call did instead."""
    try:
        returned = call(*arguments)
    except kind as raised:
        return raised
    except (NotImplementedError, AssertionError):  # a body that is not written; a test that was stopped
        raise
    except Exception as raised:  # noqa: BLE001 - whatever the learner's code raises
        pytest.fail(f"{why}: raise {kind.__name__}, not {type(raised).__name__} ({raised})")
    pytest.fail(f"{why}: raise {kind.__name__}; your code returned {returned!r}")
