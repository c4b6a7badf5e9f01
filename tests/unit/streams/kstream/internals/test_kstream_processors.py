"""The processors of streams without state: each record leads to none, one or many."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.streams.kstream.internals.kstream_processors import (
    KStreamBranch,
    KStreamFilter,
    KStreamFlatMap,
    KStreamFlatMapValues,
    KStreamForeach,
    KStreamMap,
    KStreamMapValues,
    KStreamPassThrough,
)
from kafka_lite.streams.processor.processor import Processor


class Context:
    """Keeps what is forwarded: key, value and child."""

    def __init__(self) -> None:
        self.forwarded: list[tuple[Any, ...]] = []

    def forward(self, *record: Any) -> None:
        self.forwarded.append(record)


def forwarded(processor: Processor[Any, Any], *records: tuple[Any, Any]) -> list[tuple[Any, ...]]:
    context: Any = Context()
    processor.init(context)
    for key, value in records:
        processor.process(key, value)
    return list(context.forwarded)


@pytest.mark.parametrize(
    ("processor", "expected"),
    [
        (KStreamFilter(lambda key, _: key == "a"), [("a", "x y")]),
        (KStreamFilter(lambda key, _: key == "a", negate=True), [(None, "")]),
        (KStreamFilter(lambda _, value: value), [("a", "x y")]),
        (KStreamMap(lambda key, value: (value, key)), [("x y", "a"), ("", None)]),
        (KStreamMapValues(len), [("a", 3), (None, 0)]),
        (KStreamFlatMap(lambda key, value: [(each, key) for each in value.split()]), [("x", "a"), ("y", "a")]),
        (KStreamFlatMapValues(str.split), [("a", "x"), ("a", "y")]),
        (
            KStreamBranch([lambda key, _: key == "b", lambda *_: True, lambda *_: True]),
            [("a", "x y", 1), (None, "", 1)],
        ),
        (KStreamBranch([lambda key, _: key is None]), [(None, "", 0)]),
        (KStreamPassThrough(), [("a", "x y"), (None, "")]),
    ],
)
def test_what_a_processor_forwards(processor: Processor[Any, Any], expected: list[tuple[Any, ...]]) -> None:
    assert forwarded(processor, ("a", "x y"), (None, "")) == expected


def test_foreach_forwards_nothing() -> None:
    seen: list[tuple[Any, Any]] = []
    assert forwarded(KStreamForeach(lambda *record: seen.append(record)), ("a", 1), ("b", None)) == []
    assert seen == [("a", 1), ("b", None)]
