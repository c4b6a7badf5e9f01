"""The replicas of a partition, and which of them a reassignment adds and removes: pure decisions.

Kafka 2.4: core/.../controller/ControllerContext.scala (ReplicaAssignment);
0.10.2: core/.../controller/KafkaController.scala (ReassignedPartitionsContext) · book 7.1.6
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kafka_lite.zookeeper.data import TopicAssignment


@dataclass(frozen=True)
class ReplicaAssignment:
    """All replicas of a partition. While it is reassigned, they are the old ones and the new ones.

    From 1,2,3 to 4,5,1::

        replicas            4,5,1,2,3     the target first, as the preferred leader is one of them
        adding_replicas     4,5
        removing_replicas   2,3
        origin_replicas     1,2,3         all but those that are added
        target_replicas     4,5,1         all but those that are removed

    The topic's znode holds the first three, so a new controller can finish the reassignment or cancel it.
    """

    replicas: list[int]
    adding_replicas: list[int] = field(default_factory=list)
    removing_replicas: list[int] = field(default_factory=list)

    @property
    def origin_replicas(self) -> list[int]:
        """The replicas before the reassignment, though not always in their old order."""
        return _without(self.replicas, self.adding_replicas)

    @property
    def target_replicas(self) -> list[int]:
        """The replicas after the reassignment, in their order."""
        return _without(self.replicas, self.removing_replicas)

    @property
    def is_being_reassigned(self) -> bool:
        """Whether a replica is added or removed."""
        return bool(self.adding_replicas or self.removing_replicas)

    def reassign_to(self, target: Sequence[int]) -> ReplicaAssignment:
        """The assignment on the way to ``target``. It replaces a reassignment that is in progress."""
        origin = self.origin_replicas
        replicas = list(dict.fromkeys([*target, *origin]))
        return ReplicaAssignment(replicas, _without(replicas, origin), _without(replicas, target))

    def __str__(self) -> str:
        if not self.is_being_reassigned:
            return str(self.replicas)
        return f"{self.replicas} (adding {self.adding_replicas}, removing {self.removing_replicas})"


def _without(replicas: Sequence[int], others: Sequence[int]) -> list[int]:
    return [replica for replica in replicas if replica not in others]


def assignment_of(topic: TopicAssignment, partition: int) -> ReplicaAssignment:
    """The assignment of one partition, as its topic's znode has it. Raises KeyError."""
    return ReplicaAssignment(
        list(topic.partitions[partition]),
        list(topic.adding_replicas.get(partition, ())),
        list(topic.removing_replicas.get(partition, ())),
    )


def with_assignment(topic: TopicAssignment, partition: int, assignment: ReplicaAssignment) -> TopicAssignment:
    """The content of the topic's znode with another assignment of one partition."""
    adding = {**topic.adding_replicas, partition: assignment.adding_replicas}
    removing = {**topic.removing_replicas, partition: assignment.removing_replicas}
    return TopicAssignment(
        {**topic.partitions, partition: assignment.replicas},
        topic.topic_id,
        {number: replicas for number, replicas in sorted(adding.items()) if replicas},
        {number: replicas for number, replicas in sorted(removing.items()) if replicas},
    )
