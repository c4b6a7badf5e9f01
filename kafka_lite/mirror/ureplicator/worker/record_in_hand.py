"""The one record that is between the worker's queue and its producer, and what a partition's removal has to know of it.

uReplicator reads the consume offset at any moment, and may commit a record that is not sent yet · book 8.2.3
"""

from __future__ import annotations

import threading

from kafka_lite.old_consumer.consumer_iterator import ConsumerIterator
from kafka_lite.old_consumer.message_and_metadata import MessageAndMetadata
from kafka_lite.old_consumer.partition_topic_info import INVALID_OFFSET, PartitionTopicInfo

Message = MessageAndMetadata[bytes, bytes]


class RecordInHand:
    """The worker's thread takes a record, and says when it is sent. Another thread may give a partition up meanwhile::

        worker's thread    take(7) ── handle ── send ── sent ─── take(8): revoked, dropped
        Helix's thread            give_up ── waits ────────▶ 8, the offset to commit after a flush

    The offset of ``give_up`` is exact: every record before it has gone to the producer, and none after it ever will.
    """

    def __init__(self) -> None:
        self._info: PartitionTopicInfo | None = None
        self._has_ended = False
        self._changed = threading.Condition()

    def take(self, iterator: ConsumerIterator[bytes, bytes]) -> Message | None:
        """The message that the iterator has found, now in hand; None if its partition was given up meanwhile."""
        with self._changed:
            info = iterator.next_topic_info
            message = next(iterator)
            if info is None or info.is_revoked:
                return None
            self._info = info
            return message

    def sent(self) -> None:
        """The record in hand, if there was one, has gone to the producer."""
        with self._changed:
            self._info = None
            self._changed.notify_all()

    def end(self) -> None:
        """The worker's thread has ended. A record that is still in hand will never be sent."""
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    def give_up(self, info: PartitionTopicInfo) -> int:
        """Let no further record of the partition be taken, and wait until that in hand is sent.

        Returns the offset after the last record that was sent; INVALID_OFFSET if that is not known.
        """
        with self._changed:
            info.revoke()
            while self._info is info:
                if self._has_ended:
                    return INVALID_OFFSET
                self._changed.wait()
            return info.consume_offset
