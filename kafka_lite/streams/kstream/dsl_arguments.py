"""Checks of what is passed to the operators: a mistake shows where the topology is declared, not in a stream thread.

mypy finds the same mistakes, if it is asked. Kafka has no such class: its compiler is always asked.
"""

from __future__ import annotations

from typing import TypeVar

from kafka_lite.common.serdes import Serde

T = TypeVar("T")


def ensure_serde(serde: Serde[T] | None) -> Serde[T] | None:
    """The serde. Raises TypeError if it is none, such as a class, or only one of its halves."""
    if serde is None or isinstance(serde, Serde):
        return serde
    raise TypeError(f"a serde must be a Serde, such as Serdes.string(), not {serde!r}")


def ensure_topic(topic: str) -> str:
    """The topic. Raises TypeError if it is no text, such as a list of topics."""
    if isinstance(topic, str):
        return topic
    raise TypeError(f"a topic must be a str, not {topic!r}; several topics are several arguments")


def ensure_milliseconds(what: str, value: int) -> None:
    """Raise TypeError unless the value is an int."""
    if not isinstance(value, int):
        raise TypeError(f"{what} must be a number of milliseconds, not {value!r}")


def ensure_kind(what: str, value: object, *kinds: type) -> None:
    """Raise TypeError unless the value is of one of these classes."""
    if not isinstance(value, kinds):
        raise TypeError(f"{what} must be of {' or '.join(kind.__name__ for kind in kinds)}, not {value!r}")


def ensure_callable(what: str, value: object) -> None:
    """Raise TypeError unless the value can be called."""
    if not callable(value):
        raise TypeError(f"{what} must be a function, not {value!r}")
