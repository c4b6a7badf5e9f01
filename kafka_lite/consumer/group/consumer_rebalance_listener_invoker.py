"""Calls the user's rebalance listener, and measures how long it takes.

Kafka 3.6: clients/.../consumer/internals/ConsumerRebalanceListenerInvoker.java · book 5.1.4
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.consumer.group.consumer_coordinator_metrics import ConsumerCoordinatorMetrics
from kafka_lite.consumer.subscription_state import SubscriptionState

logger = logging.getLogger(__name__)

Partitions = frozenset[TopicPartition]


class ConsumerRebalanceListenerInvoker:
    """Returns what a listener raises, instead of raising it: the rebalance completes first, then ``poll`` raises.

    In 0.10.2 it was only logged. A wakeup or Ctrl-C is raised at once, and the listener is called again later.
    """

    def __init__(self, subscriptions: SubscriptionState, sensors: ConsumerCoordinatorMetrics, time: Time) -> None:
        self._subscriptions = subscriptions
        self._sensors = sensors
        self._time = time

    def invoke_partitions_assigned(self, partitions: Partitions) -> KafkaError | None:
        """Tell the listener that these partitions were added."""
        logger.info("Adding newly assigned partitions: %s", names(partitions))
        return self._invoke("assigned", self._subscriptions.listener.on_partitions_assigned, partitions)

    def invoke_partitions_revoked(self, partitions: Partitions) -> KafkaError | None:
        """Tell the listener that these partitions are about to be given up."""
        logger.info("Revoke previously assigned partitions %s", names(partitions))
        return self._invoke("revoked", self._subscriptions.listener.on_partitions_revoked, partitions)

    def invoke_partitions_lost(self, partitions: Partitions) -> KafkaError | None:
        """Tell the listener that these partitions were lost, and may belong to other members already."""
        logger.info("Lost previously assigned partitions %s", names(partitions))
        return self._invoke("lost", self._subscriptions.listener.on_partitions_lost, partitions)

    def _invoke(self, event: str, method: Callable[[Partitions], None], partitions: Partitions) -> KafkaError | None:
        began_ms = self._time.hi_res_ms()
        try:
            method(partitions)
        except (WakeupError, KeyboardInterrupt):
            raise
        except Exception as error:
            logger.exception("User provided listener failed on invocation for partitions %s", event)
            failure = KafkaError(f"User rebalance callback throws an error: {error}")
            failure.__cause__ = error
            return failure
        now_ms = self._time.hi_res_ms()
        self._sensors.callback_latency[event].record(now_ms - began_ms, now_ms)
        return None


def raise_first(failures: Iterable[KafkaError | None]) -> None:
    """Raise the first failure, if there is one."""
    for failure in failures:
        if failure is not None:
            raise failure


def names(partitions: Iterable[TopicPartition]) -> str:
    """The partitions in order, for the log."""
    return "[" + ", ".join(str(each) for each in sorted(partitions)) + "]"
