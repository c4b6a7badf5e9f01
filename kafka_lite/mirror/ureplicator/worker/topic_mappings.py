"""The names that topics have in the target: ``--topic.mappings FILE``, a line ``source target`` for each that differs.

uReplicator kafka-0.10.2.1: uReplicator-Worker/.../mirrormaker/MirrorMakerWorker.scala (MirrorMakerMessageHandler)
· book 8.2.3
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.mirror.maker.mirror_maker_message_handler import MirrorMakerMessageHandler
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.record.record import NO_TIMESTAMP

logger = logging.getLogger(__name__)


def parse_topic_mappings(lines: Iterable[str]) -> dict[str, str]:
    """Source and target by line. A line that has not exactly two words is logged and left out, as by uReplicator."""
    mappings = {}
    for line in lines:
        match line.split():
            case [source, target]:
                mappings[source] = target
            case []:
                pass
            case _:
                logger.error("Invalid mapping '%s'", line.strip())
    return mappings


class TopicMappingHandler(MirrorMakerMessageHandler):
    """Sends each record as it is, to the topic that the mappings name, or else to that of the same name."""

    def __init__(self, mappings: Mapping[str, str]) -> None:
        self._mappings = mappings

    def handle(self, record: ConsumerRecord) -> Sequence[ProducerRecord]:
        """Key, value and timestamp stay."""
        topic = self._mappings.get(record.topic, record.topic)
        timestamp = None if record.timestamp == NO_TIMESTAMP else record.timestamp
        return (ProducerRecord(topic, record.value, record.key, None, timestamp, record.headers),)
