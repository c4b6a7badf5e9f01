"""The assignors by their names.

Kafka 0.10.2: clients/.../consumer/ConsumerConfig.java (partition.assignment.strategy) · book 5.1.3
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.new_instance import new_instance
from kafka_lite.consumer.partition_assignor import PartitionAssignor
from kafka_lite.consumer.range_assignor import RangeAssignor
from kafka_lite.consumer.round_robin_assignor import RoundRobinAssignor
from kafka_lite.consumer.sticky_assignor import StickyAssignor

BY_NAME: dict[str, type[PartitionAssignor]] = {
    kind.name: kind for kind in (RangeAssignor, RoundRobinAssignor, StickyAssignor)
}


def assignors_of(names: Iterable[str], configs: Mapping[str, object]) -> list[PartitionAssignor]:
    """An assignor for each name, which may also be that of a class; configured. Raises ConfigError."""
    assignors: list[PartitionAssignor] = []
    for name in names:
        known = BY_NAME.get(name)
        assignor = known() if known else new_instance("partition.assignment.strategy", PartitionAssignor, name)
        if any(assignor.name == each.name for each in assignors):
            raise ConfigError("partition.assignment.strategy", name, f"{assignor.name} is there twice")
        assignor.configure(configs)
        assignors.append(assignor)
    return assignors
