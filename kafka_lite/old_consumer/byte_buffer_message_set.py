"""The messages that a fetch has brought: one by one, and through the wrappers of compressed ones.

Kafka 0.10.2: core/.../message/ByteBufferMessageSet.scala · book 3.4.2
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_lite.clients.fetched_records import FetchedRecords
from kafka_lite.record.record import Record


class ByteBufferMessageSet(FetchedRecords):
    """A message set as it came off the wire.

    ``batches`` is the shallow iteration: a compressed wrapper is one entry. Iterating over the set itself is the deep
    one: the messages inside, with their own offsets. Either ends before a message that was cut off::

        shallow   [ 4 ]  [ wrapper 7        ]  [ 8 ]  [ 9 cut
        deep      [ 4 ]  [ 5 ] [ 6 ] [ 7 ]     [ 8 ]

    Since a broker sends whole wrappers, the first messages may lie before the offset that was asked for.
    """

    def __iter__(self) -> Iterator[Record]:
        """The messages. Raises CorruptRecordError where a checksum does not fit, or bytes are no messages."""
        for batch in self.batches():
            batch.ensure_valid()
            yield from batch.records()
