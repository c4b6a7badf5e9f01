"""The step between a mirror's consumer and its producer: a record of the source, and what is sent for it.

Kafka 0.10.2: core/.../tools/MirrorMaker.scala (MirrorMakerMessageHandler, defaultMirrorMakerMessageHandler)
· book 8.1.2
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.record.record import NO_TIMESTAMP


class MirrorMakerMessageHandler(ABC):
    """Decides what is sent for a record: ``--message.handler package.module.Class``.

    The class is created without arguments, or with the text of ``--message.handler.args``. All threads of the mirror
    share one object. An error ends the mirror, and the record is read again by the next one.
    """

    @abstractmethod
    def handle(self, record: ConsumerRecord) -> Sequence[ProducerRecord]:
        """The records to send for this one, in order; none to leave it out. Key and value are bytes or None."""


class DefaultMirrorMakerMessageHandler(MirrorMakerMessageHandler):
    """Sends each record as it is, to the topic of the same name.

    The target's partitioner chooses the partition: records of a key stay together, but not necessarily in the partition
    of the same number, since the target may have more partitions, or fewer.
    """

    def handle(self, record: ConsumerRecord) -> Sequence[ProducerRecord]:
        """The same topic, key, value, timestamp and headers."""
        timestamp = None if record.timestamp == NO_TIMESTAMP else record.timestamp
        return (ProducerRecord(record.topic, record.value, record.key, None, timestamp, record.headers),)
