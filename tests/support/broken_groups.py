"""A coordinator and a member of KIP-848 with known bugs, to show that the simulator finds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_lite.common.errors import KafkaError
from kafka_lite.consumer.group.consumer_rebalance_listener_invoker import Partitions
from kafka_lite.consumer.group.modern.reconciler import Reconciler
from kafka_lite.coordinator.group.modern.consumer_group import ConsumerGroup
from kafka_lite.coordinator.group.modern.current_assignment_builder import NO_EPOCH
from kafka_lite.testing.simulation.groups.programs import group_member
from kafka_lite.testing.simulation.programs import broker


def assigning_before_others_have_revoked(properties: Mapping[str, str]) -> None:
    """The coordinator gives a member its partitions at once, although others have not given them up."""
    ConsumerGroup.epoch_of = lambda *_: NO_EPOCH  # type: ignore[method-assign, assignment]
    broker(properties)


def acknowledging_before_the_listener(*args: Any) -> None:
    """A member says that it has given up partitions, and then calls its listener, which commits."""
    revoke = Reconciler._revoke

    def acknowledged(self: Reconciler, revoked: Partitions) -> KafkaError | None:
        with self._lock:
            self._membership.current = self._membership.target
        return revoke(self, revoked)

    Reconciler._revoke = acknowledged  # type: ignore[method-assign]
    group_member(*args)
