"""Stage 4, best possible state: which state each instance should have now, given who lives and who is enabled.

Helix 0.6.9: helix-core/.../controller/stages/BestPossibleStateCalcStage.java,
helix-core/.../controller/rebalancer/AutoRebalancer.java (AutoRebalancer) · book 8.2.2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_lite.mirror.helix.model.ideal_state import IdealState, RebalanceMode
from kafka_lite.mirror.helix.rebalancer.auto_rebalance_strategy import AutoRebalanceStrategy
from kafka_lite.mirror.helix.rebalancer.custom_rebalancer import customized_states
from kafka_lite.mirror.helix.rebalancer.partition_replicas import InstanceStates, PartitionReplicas
from kafka_lite.mirror.helix.rebalancer.semi_auto_rebalancer import semi_automatic_states
from kafka_lite.mirror.helix.stages.cluster_data import ClusterData
from kafka_lite.mirror.helix.stages.current_state_computation import CurrentStateOutput, PartitionKey
from kafka_lite.mirror.helix.stages.resource_computation import Resource, Resources

BestPossibleState = Mapping[PartitionKey, InstanceStates]


def compute_best_possible_state(
    data: ClusterData, resources: Resources, current: CurrentStateOutput
) -> BestPossibleState:
    """For each partition of each resource."""
    result: dict[PartitionKey, InstanceStates] = {}
    for name, resource in resources.items():
        ideal_state = data.ideal_states.get(name)
        lists = _full_auto_lists(data, ideal_state, resource, current)
        for partition in resource.partitions:
            replicas = PartitionReplicas(
                model=resource.state_model,
                states=current.states_of((name, partition)),
                live=data.live_instances.keys(),
                disabled=data.disabled_instances(name, partition),
                resource_enabled=ideal_state is None or ideal_state.enabled,
            )
            result[name, partition] = _states(replicas, ideal_state, partition, lists)
    return result


def _states(
    replicas: PartitionReplicas,
    ideal_state: IdealState | None,
    partition: str,
    lists: Mapping[str, Sequence[str]],
) -> InstanceStates:
    if ideal_state is None:  # the resource was dropped: all replicas go
        return semi_automatic_states(replicas, None)
    if ideal_state.mode is RebalanceMode.CUSTOMIZED:
        return customized_states(replicas, ideal_state.instance_states(partition))
    if ideal_state.mode is RebalanceMode.SEMI_AUTO:
        return semi_automatic_states(replicas, ideal_state.preference_list(partition, list(replicas.live)))
    return semi_automatic_states(replicas, lists.get(partition), keep_top_state=False)


def _full_auto_lists(
    data: ClusterData, ideal_state: IdealState | None, resource: Resource, current: CurrentStateOutput
) -> Mapping[str, Sequence[str]]:
    """The preference lists that FULL_AUTO computes, from all partitions of a resource at once."""
    if ideal_state is None or ideal_state.mode is not RebalanceMode.FULL_AUTO:
        return {}
    enabled = [name for name, config in data.instance_configs.items() if config.enabled]
    live = [name for name in enabled if name in data.live_instances]
    replicas = ideal_state.replicas(len(data.live_instances)) or 0
    counts = resource.state_model.replica_counts(replicas=replicas, live_instances=len(data.live_instances))
    mapping = {
        partition: {*current.states_of((resource.name, partition)), *current.pending_of((resource.name, partition))}
        for partition in ideal_state.partitions
    }
    strategy = AutoRebalanceStrategy(ideal_state.partitions, counts, ideal_state.max_partitions_per_instance)
    return strategy.preference_lists(enabled, live, mapping)
