"""A store in memory is a sorted map of bytes, and usable only while it is open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_lite.streams.errors import InvalidStateStoreError
from kafka_lite.streams.state.in_memory_key_value_store import InMemoryKeyValueStore


class Context:
    """Restores two entries of a changelog, of which the second deletes the first, and one more."""

    def register(self, _: object, restore: Callable[[bytes, bytes | None], None]) -> None:
        for key, value in ((b"b", b"1"), (b"b", None), (b"a", b"2")):
            restore(key, value)


@pytest.fixture
def store() -> InMemoryKeyValueStore:
    made, context = InMemoryKeyValueStore("store"), Context()
    any_context: Any = context
    made.init(any_context, made)
    return made


def test_a_store_is_restored_when_it_is_opened(store: InMemoryKeyValueStore) -> None:
    assert (store.is_open, store.persistent, list(store.all())) == (True, False, [(b"a", b"2")])


def test_a_value_is_put_once_if_it_is_to_be_absent(store: InMemoryKeyValueStore) -> None:
    assert store.put_if_absent(b"a", b"3") == b"2"
    assert store.put_if_absent(b"c", b"3") is None
    assert (store.get(b"a"), store.get(b"c")) == (b"2", b"3")


def test_ranges_include_both_ends_in_the_order_of_unsigned_bytes(store: InMemoryKeyValueStore) -> None:
    for key in (b"\xff", b"a\x00", b"b"):
        store.put(key, key)
    assert [key for key, _ in store.range(b"a", b"b")] == [b"a", b"a\x00", b"b"]
    assert [key for key, _ in store.all()] == [b"a", b"a\x00", b"b", b"\xff"]
    assert list(store.range(b"c", b"b")) == []


def test_a_deletion_returns_what_was_there(store: InMemoryKeyValueStore) -> None:
    assert [store.delete(b"a"), store.delete(b"a"), store.approximate_num_entries()] == [b"2", None, 0]


def test_an_iterator_has_the_entries_of_its_beginning(store: InMemoryKeyValueStore) -> None:
    entries = store.all()
    store.put(b"a", None)
    store.put(b"z", b"1")
    assert list(entries) == [(b"a", b"2")]


def test_a_closed_store_is_empty_and_refuses_use(store: InMemoryKeyValueStore) -> None:
    store.close()
    for use in (lambda: store.get(b"a"), lambda: store.put(b"a", b"1"), store.all, store.approximate_num_entries):
        with pytest.raises(InvalidStateStoreError, match="Store store is currently closed"):
            use()
