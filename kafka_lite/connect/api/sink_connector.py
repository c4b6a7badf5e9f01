"""A connector that copies data out of Kafka.

Kafka 0.10.2: connect/api/.../connect/sink/SinkConnector.java; alter_offsets: Kafka 3.6 · book 8.3.2
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.connector import Connector


class SinkConnector(Connector):
    """Extend it, and let ``task_class`` return a SinkTask."""

    TOPICS_CONFIG: Final = "topics"

    def alter_offsets(
        self,
        connector_config: Mapping[str, str],  # noqa: ARG002  a hook
        offsets: Mapping[TopicPartition, int | None],  # noqa: ARG002
    ) -> bool:
        """Check the offsets that a user wants to set; None removes one.

        Returns whether the connector knows that they can be used. Raises ConnectError if they cannot.
        """
        return False


class GroupOffsetsSinkConnector(SinkConnector):
    """A sink whose offsets are all in its consumer group, so that any will do: it begins wherever a user wants.

    Not in Kafka, where each such connector repeats the method.
    """

    def alter_offsets(
        self,
        connector_config: Mapping[str, str],  # noqa: ARG002  nothing to check
        offsets: Mapping[TopicPartition, int | None],  # noqa: ARG002
    ) -> bool:
        """Any offsets can be used."""
        return True
