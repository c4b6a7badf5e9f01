"""The messages of a fetch response, with iteration into compressed wrappers.

Kafka 0.10.2: core/.../message/ByteBufferMessageSet.scala · book 3.4.2
"""

from __future__ import annotations

from collections.abc import Iterator

from kafka_lite.clients.fetched_records import FetchedRecords
from kafka_lite.record.record import Record


class ByteBufferMessageSet(FetchedRecords):
    """A message set as it was received.

    ``batches`` is the shallow iteration, in which a compressed wrapper is one entry. Iterating over the set itself is
    the deep one: it returns the messages inside, with their own offsets. Both end before a truncated message::

        shallow   [ 4 ]  [ wrapper 7        ]  [ 8 ]  [ 9 cut
        deep      [ 4 ]  [ 5 ] [ 6 ] [ 7 ]     [ 8 ]

    Because a broker sends whole wrappers, the first messages may lie before the requested offset.
    """

    def __iter__(self) -> Iterator[Record]:
        """The messages. Raises CorruptRecordError for a wrong checksum or invalid bytes."""
        for batch in self.batches():
            batch.ensure_valid()
            yield from batch.records()
