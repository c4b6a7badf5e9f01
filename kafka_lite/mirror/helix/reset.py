"""The way out of ERROR: an administrator asks an instance to take a partition back to the initial state.

Helix 0.6.9: helix-core/.../manager/zk/ZKHelixAdmin.java (ZKHelixAdmin) · book 8.2.2
"""

from __future__ import annotations

from kafka_lite.mirror.helix.helix_errors import HelixError
from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.model.state_model_definition import ERROR
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.helix.stages.cluster_data import ClusterData
from kafka_lite.mirror.helix.writes import Create


def reset_partition(
    data: ClusterData,
    paths: PropertyPaths,
    instance: str,
    resource: str,
    partition: str,
    *,
    message_id: str,
    now_ms: int,
    admin: str,
) -> Create:
    """The message from ERROR to the initial state. Raises HelixError if there is nothing to reset."""
    what = f"{resource}/{partition} on {instance} cannot be reset"
    live = data.live_instances.get(instance)
    if live is None:
        raise HelixError(f"{what}: the instance is not alive")
    ideal_state = data.ideal_states.get(resource)
    if ideal_state is None or partition not in ideal_state.partitions:
        raise HelixError(f"{what}: there is no such partition")
    current = data.current_states.get(instance, {}).get(resource)
    state = None if current is None else current.states.get(partition)
    if state != ERROR:
        raise HelixError(f"{what}: it is not in ERROR, but {state or 'in no state'}")
    model = data.state_models.get(ideal_state.state_model or "")
    if model is None:
        raise HelixError(f"{what}: the state model {ideal_state.state_model} is not in the cluster")
    for pending in data.messages.get(instance, ()):
        same = (pending.resource, pending.partition) == (resource, partition)
        if pending.is_transition and pending.session == live.session and same:
            raise HelixError(f"{what}: the message {pending.id} is pending")
    message = Message.transition(
        message_id,
        now_ms,
        source=(admin, None),
        target=(instance, live.session),
        resource=resource,
        partition=partition,
        from_state=ERROR,
        to_state=model.initial_state,
        state_model=model.name,
        factory=ideal_state.state_model_factory,
    )
    return Create(paths.message(instance, message_id), message.record)
