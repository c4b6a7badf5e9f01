"""Finds assignors by name.

Kafka 0.10.2: clients/.../consumer/ConsumerConfig.java (partition.assignment.strategy) · book 5.1.3
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.new_instance import new_instance
from kafka_lite.consumer.assignors.cooperative_sticky_assignor import CooperativeStickyAssignor
from kafka_lite.consumer.assignors.partition_assignor import PartitionAssignor, RebalanceProtocol
from kafka_lite.consumer.assignors.range_assignor import RangeAssignor
from kafka_lite.consumer.assignors.round_robin_assignor import RoundRobinAssignor
from kafka_lite.consumer.assignors.sticky_assignor import StickyAssignor

KEY = "partition.assignment.strategy"
BY_NAME: dict[str, type[PartitionAssignor]] = {
    kind.name: kind for kind in (RangeAssignor, RoundRobinAssignor, StickyAssignor, CooperativeStickyAssignor)
}

BY_JAVA_NAME = {f"org.apache.kafka.clients.consumer.{kind.__name__}": kind for kind in BY_NAME.values()}
"""So that a consumer.properties of Kafka works here too."""


def assignors_of(names: Iterable[str], configs: Mapping[str, object]) -> list[PartitionAssignor]:
    """A configured assignor for each short name or class name, ours or Kafka's. Raises ConfigError."""
    assignors: list[PartitionAssignor] = []
    for name in names:
        known = BY_NAME.get(name) or BY_JAVA_NAME.get(name)
        assignor = known() if known else new_instance(KEY, PartitionAssignor, name)
        if any(assignor.name == each.name for each in assignors):
            raise ConfigError(KEY, name, f"{assignor.name} is listed twice")
        assignor.configure(configs)
        assignors.append(assignor)
    return assignors


def common_protocol(assignors: Sequence[PartitionAssignor]) -> RebalanceProtocol:
    """The most advanced protocol that *all* of them support, because the group may elect any of them.

    A group becomes cooperative by two rolling restarts. With ``range,cooperative-sticky`` its members are still eager;
    when all have both, the second restart leaves only ``cooperative-sticky``. Raises ConfigError if there is no common
    protocol.
    """
    common = set(RebalanceProtocol).intersection(*(each.supported_protocols for each in assignors))
    if not common:
        names = ", ".join(each.name for each in assignors)
        raise ConfigError(KEY, names, "the assignors have no rebalance protocol in common")
    return max(common)
