"""Checks of what a test passes to a cluster: a wrong value is refused where it is given, with what to give instead.

Kafka 0.10.2: core/src/test/.../utils/TestUtils.scala, which leaves that to the Scala compiler · book 1.4.1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def check_number(name: str, value: object, example: str) -> None:
    """Raises TypeError unless ``value`` is an int or a float, with a call that is right."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, not {value!r}: {example}")


def check_whole_number(name: str, value: object, example: str) -> None:
    """Raises TypeError unless ``value`` is an int, with a call that is right."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number, not {value!r}: {example}")


def check_name(what: str, value: object, example: str) -> None:
    """Raises TypeError unless ``value`` is a string, with a call that is right."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string, not {value!r}: {example}")


def check_keys(what: str, value: object, example: str) -> None:
    """Raises TypeError unless ``value`` is a mapping from configuration keys to values.

    The error ends with ``example``, a correct call.
    """
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise TypeError(f"{what} must be a dictionary of keys and values, not {value!r}: {example}")


def check_function(what: str, value: Callable[..., Any] | None, example: str) -> None:
    """Raises TypeError unless ``value`` can be called, with a call that is right. None passes."""
    if value is not None and not callable(value):
        raise TypeError(f"{what} must be a function, not {value!r}: {example}")


def check_acks(acks: object) -> None:
    """Raises ValueError unless ``acks`` is 1 or -1: without a response, a test would not know what was written."""
    if acks not in (1, -1) or isinstance(acks, bool):
        raise ValueError(f"acks={acks!r}: 1 waits for the leader, -1 for the whole ISR")


def id_of(broker: object) -> int:
    """The id of a broker, given as such or as its id. Raises TypeError for anything else."""
    found = broker if isinstance(broker, int) and not isinstance(broker, bool) else getattr(broker, "id", None)
    if not isinstance(found, int):
        raise TypeError(f"a broker must be cluster.brokers[0], for example, or its id, not {broker!r}")
    return found
