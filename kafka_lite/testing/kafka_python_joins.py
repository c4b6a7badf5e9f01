"""A workaround for kafka-python 3.0, whose consumer forgets a join that takes longer than the ``poll`` that began it.

    poll (partitions have changed) → JoinGroup is sent → poll's time is over, "leave the join in flight"
                                     JoinGroup returns: the leader assigns the new partitions
    poll (nothing has changed)     → no rejoin needed: nobody awaits the join, and heartbeats stay disabled

It also forgets one that fails::

    poll (partitions have changed) → JoinGroup → NOT_COORDINATOR: to be tried again, if a rejoin is needed
         (they are as before)      → no rejoin needed: nobody joins, and heartbeats stay disabled

The member then reads nothing, and says nothing, forever. Kafka's consumer asks ``rejoinNeededOrPending``. The
simulator met both in a cluster whose brokers did not know a topic for a moment.

Not in Kafka.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kafka import KafkaConsumer


def await_pending_joins(consumer: KafkaConsumer) -> None:
    """Let each ``poll`` of kafka-python's ``consumer`` continue a join that has begun, until one has succeeded."""
    coordinator = consumer._coordinator
    needs_rejoin = coordinator.need_rejoin
    coordinator.need_rejoin = lambda: coordinator.rejoining or needs_rejoin()  # since the heartbeats are disabled
