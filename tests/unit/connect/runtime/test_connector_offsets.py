from __future__ import annotations

from kafka_lite.connect.runtime.connector_offsets import ConnectorOffset, sink_offsets, source_offsets
from kafka_lite.connect.runtime.storage.memory_offset_backing_store import MemoryOffsetBackingStore
from tests.support.connect_groups import FakeGroupAdmin
from tests.support.connect_stores import PlainJson


def test_those_of_a_source_are_its_own_keys_of_the_store() -> None:
    store = MemoryOffsetBackingStore()
    store.set({
        b'["a",{"file":"2"}]': b'{"position":7}',
        b'["a",{"file":"1"}]': b'{"position":4}',
        b'["a",{"file":"gone"}]': None,
        b'["ab",{"file":"1"}]': b'{"position":9}',
        b'"of another version"': b"1",
    })  # fmt: skip
    assert source_offsets(store, "a", PlainJson(), PlainJson()) == [
        ConnectorOffset({"file": "1"}, {"position": 4}),
        ConnectorOffset({"file": "2"}, {"position": 7}),
    ]
    assert source_offsets(store, "none", PlainJson(), PlainJson()) == []


def test_those_of_a_sink_are_committed_by_its_group() -> None:
    admin = FakeGroupAdmin({("t", 1): 5, ("a", 0): 7})
    assert sink_offsets(admin, "connect-s") == [  # type: ignore[arg-type]
        ConnectorOffset({"kafka_topic": "a", "kafka_partition": 0}, {"kafka_offset": 7}),
        ConnectorOffset({"kafka_topic": "t", "kafka_partition": 1}, {"kafka_offset": 5}),
    ]
