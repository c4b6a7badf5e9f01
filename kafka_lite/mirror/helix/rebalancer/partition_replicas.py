"""The facts about one partition that a rebalancer decides by.

Helix 0.6.9: helix-core/.../controller/rebalancer/AbstractRebalancer.java (AbstractRebalancer) · book 8.2.2
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from kafka_lite.mirror.helix.model.state_model_definition import ERROR, StateModelDefinition

InstanceStates = dict[str, str]
"""From instances to states that they should have."""


@dataclass(frozen=True)
class PartitionReplicas:
    """A partition's replicas, and the instances that could have one."""

    model: StateModelDefinition
    states: Mapping[str, str] = field(default_factory=dict)
    """The current states of live instances that have a replica."""
    live: Collection[str] = ()
    disabled: Collection[str] = ()
    resource_enabled: bool = True

    def enabled(self, instance: str) -> bool:
        """Whether the instance may have the partition."""
        return self.resource_enabled and instance not in self.disabled

    def usable(self, instance: str) -> bool:
        """Whether the instance can take a state: it lives, is enabled, and its replica is not in ERROR."""
        return instance in self.live and self.enabled(instance) and self.states.get(instance) != ERROR
