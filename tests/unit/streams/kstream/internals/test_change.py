"""A change on its way through a repartition topic."""

from __future__ import annotations

import pytest

from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.kstream.internals.change import Change, ChangedDeserializer, ChangedSerializer
from tests.support.dsl_topologies import LONG


def test_bytes_of_a_change() -> None:
    serializer, deserializer = ChangedSerializer(None), ChangedDeserializer(None)
    serializer.use_default(LONG)
    deserializer.use_default(LONG)
    for change, data in [(Change(258, None), b"\0\0\0\0\0\0\1\2\1"), (Change(None, 1), b"\0\0\0\0\0\0\0\1\0")]:
        assert serializer.serialize("t", change) == data
        assert deserializer.deserialize("t", data) == change
    assert serializer.serialize("t", None) is deserializer.deserialize("t", None) is None
    with pytest.raises(StreamsError, match=r"Both old and new values are not null \(1 : 2\)"):
        serializer.serialize("t", Change(2, 1))
    with pytest.raises(StreamsError, match="Both old and new values are null"):
        serializer.serialize("t", Change(None, None))
