"""A message handler that sends each record to a topic of another name. Not in Kafka."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.mirror.maker.mirror_maker_message_handler import MirrorMakerMessageHandler
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.testing.simulation.mirror.facts import COPIES


class ToCopies(MirrorMakerMessageHandler):
    """The partition is the one that the key decides, as with the default handler."""

    def handle(self, record: ConsumerRecord) -> Sequence[ProducerRecord]:
        """The same record for COPIES."""
        return [ProducerRecord(COPIES, record.value, record.key, timestamp=record.timestamp)]
