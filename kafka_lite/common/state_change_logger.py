"""The log of all changes of leadership, which the controller and the brokers write in the same words.

With it one can follow one partition through a cluster: what the controller decided, what it sent to whom, what each
broker made of it. The lines are Kafka 0.10.2's, so what was written to find things in Kafka's log finds them here, too.

Kafka 0.10.2: core/.../controller/KafkaController.scala (StateChangeLogger) · book 7.1.7
"""

from __future__ import annotations

import logging

from kafka_lite.common.log_levels import TRACE
from kafka_lite.common.topic_partition import TopicPartition


class StateChangeLogger:
    """``trace`` for each single step, ``error`` and ``warning`` for what failed; ``logging`` formats what is read."""

    def __init__(self, name: str = "state.change.logger") -> None:
        self._logger = logging.getLogger(name)
        self.error = self._logger.error
        self.warning = self._logger.warning

    def is_tracing(self) -> bool:
        """Whether ``trace`` writes anything: ask before going through partitions only to tell of them."""
        return self._logger.isEnabledFor(TRACE)

    def trace(self, line: str, *values: object) -> None:
        """A line about a single step."""
        self._logger.log(TRACE, line, *values, stacklevel=2)


state_change_logger = StateChangeLogger()


def bracketed(partition: TopicPartition) -> str:
    """``[topic,3]``, as the controller of 0.10.2 writes a partition; brokers write ``topic-3``."""
    return f"[{partition.topic},{partition.partition}]"
