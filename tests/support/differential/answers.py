"""What differs between two brokers' answers to the same request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

UNCOMPARED: Final = frozenset({
    "throttle_time_ms", "error_message", "log_append_time_ms", "timestamp", "cluster_id", "port", "host", "session_id",
    "total_bytes", "partition_size", "usable_bytes", "size", "log_dir", "hmac", "documentation", "start_timestamp",
    "last_timestamp",
    "transaction_start_time_ms",
})  # fmt: skip
"""Times, ids of a single answer, texts of an error, and places on the disk."""
_KNOWN: Final = ("name", "id", "partition", "index", "topic", "user", "entity", "mechanism", "type", "offset", "value")
_NAMES: Final = ("name", "topic", "topic_name", "topic_id", "producer_id")


class Difference(NamedTuple):
    """One value that differs."""

    path: str
    """Its fields, without indexes: ``responses.partitions.error_code``."""
    theirs: Any
    ours: Any


def differences(theirs: Any, ours: Any, path: str = "") -> Iterator[Difference]:
    """All of two answers, which ``Symbols.hidden`` has made plain."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for name in theirs:
            if name not in UNCOMPARED:
                yield from differences(theirs[name], ours[name], f"{path}.{name}".lstrip("."))
    elif isinstance(theirs, list) and isinstance(ours, list):
        first, second = _comparable(theirs), _comparable(ours)
        if len(first) != len(second):
            yield Difference(path, first, second)
        else:
            for one, other in zip(first, second, strict=True):
                yield from differences(one, other, path)
    elif theirs != ours:
        yield Difference(path, theirs, ours)


def _comparable(values: list[Any]) -> list[Any]:
    """In an order of their own, which neither broker promises; a topic once, and none without partitions.

    Kafka keeps topics of most requests in maps, which leave out what was asked for twice, or had no partitions.
    """
    if not values or not isinstance(values[0], dict):
        return sorted(values, key=repr)
    lists = [name for name, value in values[0].items() if isinstance(value, list)]
    names = [name for name in _NAMES if name in values[0]]
    if len(lists) == 1 and names:
        merged: dict[Any, dict[str, Any]] = {}
        for value in values:
            key = tuple(repr(value[name]) for name in names)
            kept = merged.setdefault(key, {**value, lists[0]: []})
            kept[lists[0]] = kept[lists[0]] + [each for each in value[lists[0]] or [] if each not in kept[lists[0]]]
        values = [value for value in merged.values() if value[lists[0]] or "error_code" in value]
    return sorted(values, key=_order)


def _order(value: Any) -> str:
    """The names and indexes of a struct before all that answers: what differs is then next to its like."""
    if not isinstance(value, dict):
        return repr(value)
    shown = {name: each for name, each in value.items() if name not in UNCOMPARED}
    known = [name for name in shown if any(word in name for word in _KNOWN)]
    return repr(
        [shown[name] for name in known if not isinstance(shown[name], list)]
        + [sorted(map(_order, each)) for each in shown.values() if isinstance(each, list)]
    )
