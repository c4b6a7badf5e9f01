"""The state change log, in which the controller and the brokers record every leadership change.

It lets one follow a partition through a cluster: what the controller decided, which broker it told, and what each
broker did. The lines are those of Kafka 0.10.2, so tools that search Kafka's log work here, too.

Kafka 0.10.2: core/.../controller/KafkaController.scala (StateChangeLogger) · book 7.1.7
"""

from __future__ import annotations

import logging

from kafka_lite.common.process.log_levels import TRACE
from kafka_lite.common.topic_partition import TopicPartition


class StateChangeLogger:
    """``trace`` logs single steps, ``error`` and ``warning`` failures. Values are formatted only when logged."""

    def __init__(self, name: str = "state.change.logger") -> None:
        self._logger = logging.getLogger(name)
        self.error = self._logger.error
        self.warning = self._logger.warning

    def is_tracing(self) -> bool:
        """Whether ``trace`` logs anything. Check it before a loop over partitions that only traces."""
        return self._logger.isEnabledFor(TRACE)

    def trace(self, line: str, *values: object) -> None:
        """Log a single step."""
        self._logger.log(TRACE, line, *values, stacklevel=2)


state_change_logger = StateChangeLogger()


def bracketed(partition: TopicPartition) -> str:
    """``[topic,3]``, the way the controller of 0.10.2 writes a partition; brokers write ``topic-3``."""
    return f"[{partition.topic},{partition.partition}]"
