"""CUSTOMIZED: each instance gets the state that the ideal state names.

If an instance dies, nobody takes its place until the ideal state changes: uReplicator's controller does that after a
delay.

Helix 0.6.9: helix-core/.../controller/rebalancer/CustomRebalancer.java (CustomRebalancer) · book 8.2.2
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.mirror.helix.model.state_model_definition import DROPPED, ERROR
from kafka_lite.mirror.helix.rebalancer.partition_replicas import InstanceStates, PartitionReplicas


def customized_states(replicas: PartitionReplicas, ideal: Mapping[str, str] | None) -> InstanceStates:
    """The states of a partition's instances; ``ideal`` is None once the ideal state does not have the partition.

    A replica in ERROR stays as it is while the ideal state wants it: only a reset gets it out.
    """
    result: InstanceStates = {}
    for instance, state in replicas.states.items():
        if instance not in (ideal or {}) and instance not in replicas.disabled:
            result[instance] = DROPPED
        elif state != ERROR and not replicas.enabled(instance):
            result[instance] = replicas.model.initial_state
    result |= {instance: state for instance, state in (ideal or {}).items() if replicas.usable(instance)}
    return result
