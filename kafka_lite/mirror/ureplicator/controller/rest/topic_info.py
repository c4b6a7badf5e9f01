"""The topic of a request's body: ``{"topic": "t", "numPartitions": "8"}``; the number may be a number, too.

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../mirrormaker/controller/core/TopicPartition.java ·
book 8.2.2
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from kafka_lite.common.topic_names import validate_topic_name
from kafka_lite.mirror.ureplicator.controller.controller_errors import ControllerError

MAX_PARTITIONS = 100_000
"""An ideal state has to fit into a znode; this is beyond what does."""


class BadTopicInfoError(ControllerError):
    """A body that does not say which topic, or how many partitions."""


@dataclass(frozen=True)
class TopicInfo:
    """A topic and its number of partitions. (uReplicator: TopicPartition, which is elsewhere one partition.)"""

    topic: str
    num_partitions: int

    @classmethod
    def parse(cls, body: bytes) -> TopicInfo:
        """Raises BadTopicInfoError, InvalidTopicError."""
        try:
            fields = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise BadTopicInfoError(f"Cannot initialize TopicPartitionInfo, not JSON: {error}") from None
        for name in ("topic", "numPartitions"):
            if not isinstance(fields, dict) or name not in fields:
                raise BadTopicInfoError(f"Cannot initialize TopicPartitionInfo, missing field: {name}")
        topic, text = fields["topic"], str(fields["numPartitions"])
        if not isinstance(topic, str):
            raise BadTopicInfoError("Cannot initialize TopicPartitionInfo, topic is not a text")
        validate_topic_name(topic)
        if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= MAX_PARTITIONS):
            raise BadTopicInfoError(
                f"Cannot initialize TopicPartitionInfo, numPartitions is not a number from 1 to {MAX_PARTITIONS}"
            )
        return cls(topic, int(text))

    def __str__(self) -> str:
        return f"{{topic: {self.topic}, partition: {self.num_partitions}}}"
