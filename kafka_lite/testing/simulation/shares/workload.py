"""The simulator's workload of a share group, on brokers whose leaders and share coordinators fail.

Not in Kafka.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kafka_lite.testing.history.checker import Violation
from kafka_lite.testing.simulation.programs import Load
from kafka_lite.testing.simulation.shares.facts import At, Facts
from kafka_lite.testing.simulation.shares.programs import LOCK_MS
from kafka_lite.testing.simulation.shares.verdict import judge, undone
from kafka_lite.testing.simulation.workload import Workload
from kafka_lite.testing.simulation.world import World

SHARE_PROGRAMS: Final = "kafka_lite.testing.simulation.shares.programs:"
GROUP: Final = "sharing"
TOPIC: Final = "shared"
DELIVERY_LIMIT: Final = 5


def share_properties(brokers: int) -> Mapping[str, str]:
    """The broker properties of a workload with a share group."""
    replicas = min(brokers, 3)
    return {
        "group.share.enable": "true",
        "group.share.delivery.count.limit": str(DELIVERY_LIMIT),
        "group.share.min.heartbeat.interval.ms": "1000",
        "group.share.heartbeat.interval.ms": "1000",
        "group.share.min.session.timeout.ms": "6000",
        "group.share.session.timeout.ms": "10000",
        "group.share.min.record.lock.duration.ms": str(LOCK_MS),
        "group.share.record.lock.duration.ms": str(LOCK_MS),
        "share.coordinator.state.topic.num.partitions": str(replicas),
        "share.coordinator.state.topic.replication.factor": str(replicas),
        "share.coordinator.state.topic.min.isr": str((replicas + 1) // 2),
    }


class ShareWorkload(Workload):
    """Producers of one topic, and members of one share group."""

    def __init__(self, world: World, properties: Mapping[str, str], brokers: int = 1) -> None:
        super().__init__(world, properties, brokers)
        self.facts = Facts()

    def start_group(self, partitions: int, members: int) -> None:
        """Create the topic, and start producers and members."""
        self.create_topic(TOPIC, partitions)
        self._operate("begin_at_the_beginning", GROUP, module=SHARE_PROGRAMS)
        for number in range(2):
            self.produce(f"producer-{number}", Load(TOPIC, partitions, 5))
        for number in range(members):
            self.share(f"member-{number}")

    def share(self, name: str) -> None:
        """Start a member."""
        member = self._start_client(
            "share_member", name, GROUP, TOPIC, self.history, self.facts, {}, module=SHARE_PROGRAMS
        )
        self._reads_to_the_end(member, lambda: self.share(f"{name}+"))

    def _written(self) -> set[At]:
        return {(place.topic, place.partition, place.offset) for _, place in self.history.acknowledged}

    def _has_caught_up(self) -> bool:
        return not undone(self.facts, self._written(), DELIVERY_LIMIT)

    def finish(self) -> list[Violation]:
        """Let everything end, and judge."""
        return [*super().finish(), *judge(self.facts, self._written(), DELIVERY_LIMIT)]
