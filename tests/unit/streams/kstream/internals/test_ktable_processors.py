"""The processors of tables: the changes they pass on, with and without old values, and the values they compute."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.kstream.internals.change import Change
from kafka_lite.streams.kstream.internals.ktable_processors import (
    KTableFilter,
    KTableMapValues,
    KTableProcessorSupplier,
    KTableRepartitionMap,
    KTableValueGetter,
    key_value_store,
)
from kafka_lite.streams.processor.processor import Processor
from kafka_lite.streams.processor.processor_context import ProcessorContext


class Context:
    """Keeps what is forwarded. It has one store, which is no key-value store."""

    def __init__(self) -> None:
        self.forwarded: list[tuple[Any, Change[Any]]] = []

    def forward(self, key: Any, change: Change[Any]) -> None:
        self.forwarded.append((key, change))

    def get_state_store(self, _: str) -> object:
        return object()


class Parent(KTableProcessorSupplier):
    """A table with the value 5 of the key ``a``."""

    store_names = ("Numbers",)

    def __call__(self) -> Processor[Any, Any]:
        raise AssertionError("its processor is not needed")

    def value_getter(self, _: ProcessorContext) -> KTableValueGetter:
        return {"a": 5}.get


def changed(processor: Processor[Any, Any], *changes: Change[Any]) -> list[Change[Any]]:
    context: Any = Context()
    processor.init(context)
    for change in changes:
        processor.process("a", change)
    return [change for _, change in context.forwarded]


def test_a_filter_turns_values_that_do_not_fit_into_deletions() -> None:
    table = KTableFilter(Parent(), lambda _, value: value > 3)
    assert changed(table(), Change(5, None), Change(2, 5), Change(1, 2)) == [
        Change(5, None), Change(None, None), Change(None, None),
    ]  # fmt: skip


def test_a_filter_with_old_values_leaves_out_what_was_not_in_the_table() -> None:
    parent = Parent()
    table = KTableFilter(parent, lambda _, value: value > 3)
    table.enable_sending_old_values()
    assert parent.send_old_values
    assert changed(table(), Change(5, None), Change(2, 5), Change(1, 2)) == [Change(5, None), Change(None, 5)]


def test_mapped_values_keep_deletions() -> None:
    table = KTableMapValues(Parent(), lambda value: value * 10)
    assert changed(table(), Change(5, 4), Change(None, 5)) == [Change(50, None), Change(None, None)]
    table.enable_sending_old_values()
    assert changed(table(), Change(5, 4), Change(None, 5)) == [Change(50, 40), Change(None, 50)]


def test_values_are_computed_from_those_of_the_parent() -> None:
    context: Any = Context()
    mapped = KTableMapValues(Parent(), lambda value: value * 10)
    filtered = KTableFilter(mapped, lambda _, value: value > 3, negate=True)
    assert filtered.store_names == ("Numbers",)
    assert [mapped.value_getter(context)(key) for key in "ab"] == [50, None]
    assert [filtered.value_getter(context)(key) for key in "ab"] == [None, None]


def test_a_regrouped_change_leaves_its_old_group_first() -> None:
    context: Any = Context()
    processor = KTableRepartitionMap(lambda key, value: (value % 2, key) if value else None)
    processor.init(context)
    processor.process("a", Change(3, 2))
    processor.process("a", Change(0, 3))
    processor.process("a", Change(None, 0))
    assert context.forwarded == [(0, Change(None, "a")), (1, Change("a", None)), (1, Change(None, "a"))]
    with pytest.raises(StreamsError, match="should not be null"):
        processor.process(None, Change(1, None))


def test_a_store_of_another_kind_is_refused() -> None:
    context: Any = Context()
    with pytest.raises(TypeError, match="store Numbers is a object, not a KeyValueStore"):
        key_value_store(context, "Numbers")
