"""The assignors by their names.

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
"""So that a consumer.properties of Kafka's does here as well."""


def assignors_of(names: Iterable[str], configs: Mapping[str, object]) -> list[PartitionAssignor]:
    """An assignor for each name, which may also be that of a class, ours or Kafka's; configured. Raises ConfigError."""
    assignors: list[PartitionAssignor] = []
    for name in names:
        known = BY_NAME.get(name) or BY_JAVA_NAME.get(name)
        assignor = known() if known else new_instance(KEY, PartitionAssignor, name)
        if any(assignor.name == each.name for each in assignors):
            raise ConfigError(KEY, name, f"{assignor.name} is there twice")
        assignor.configure(configs)
        assignors.append(assignor)
    return assignors


def common_protocol(assignors: Sequence[PartitionAssignor]) -> RebalanceProtocol:
    """The most advanced protocol that *all* of them know: whichever the group chooses, the member has joined before.

    So a group becomes cooperative in two deployments: with both, ``range,cooperative-sticky``, its members are eager;
    when all have both, the second one leaves ``cooperative-sticky`` alone. Raises ConfigError if there is none.
    """
    common = set(RebalanceProtocol).intersection(*(each.supported_protocols for each in assignors))
    if not common:
        names = ", ".join(each.name for each in assignors)
        raise ConfigError(KEY, names, "the assignors have no rebalance protocol in common")
    return max(common)
