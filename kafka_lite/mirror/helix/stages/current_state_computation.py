"""Stage 3, current states: which state each replica is in, and which transitions are on their way.

Only live instances count, and of them only their present sessions: what a dead participant was is of no interest.

Helix 0.6.9: helix-core/.../controller/stages/CurrentStateComputationStage.java,
helix-core/.../controller/stages/CurrentStateOutput.java (CurrentStateOutput) · book 8.2.2
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.stages.cluster_data import ClusterData
from kafka_lite.mirror.helix.stages.resource_computation import Resources

PartitionKey = tuple[str, str]
"""A resource, and one of its partitions."""


@dataclass(frozen=True)
class CurrentStateOutput:
    """The states and pending transitions of all replicas."""

    states: Mapping[PartitionKey, Mapping[str, str]] = field(default_factory=dict)
    """By instance. A replica without an entry is in the initial state."""
    pending: Mapping[PartitionKey, Mapping[str, Message]] = field(default_factory=dict)
    """By instance: its message that is not deleted so far."""

    def states_of(self, key: PartitionKey) -> Mapping[str, str]:
        """The states of a partition's replicas."""
        return self.states.get(key, {})

    def pending_of(self, key: PartitionKey) -> Mapping[str, Message]:
        """The transitions of a partition's replicas that are on their way."""
        return self.pending.get(key, {})


def compute_current_state(data: ClusterData, resources: Resources) -> CurrentStateOutput:
    """From the current states and messages of the live instances."""
    states: dict[PartitionKey, dict[str, str]] = {}
    pending: dict[PartitionKey, dict[str, Message]] = {}
    for name, instance in data.live_instances.items():
        for message in data.messages.get(name, ()):
            if message.is_transition and message.session == instance.session and message.resource in resources:
                pending.setdefault((message.resource, message.partition), {})[name] = message
        for resource, current in data.current_states.get(name, {}).items():
            if current.session == instance.session and resource in resources:
                for partition, state in current.states.items():
                    states.setdefault((resource, partition), {})[name] = state
    return CurrentStateOutput(states, pending)
