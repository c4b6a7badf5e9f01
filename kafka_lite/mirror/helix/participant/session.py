"""How a participant joins with a new session: what it creates, and what it carries over from an old one.

Helix 0.6.9: helix-core/.../manager/zk/ParticipantManager.java (ParticipantManager) · book 8.2.3
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_lite.mirror.helix.model.current_state import CurrentState
from kafka_lite.mirror.helix.model.instance_config import InstanceConfig
from kafka_lite.mirror.helix.model.state_model_definition import StateModelDefinition
from kafka_lite.mirror.helix.property_paths import INSTANCE_CONTAINERS, PropertyPaths
from kafka_lite.mirror.helix.writes import Create, Delete, Put, Write


def join(instance: str, paths: PropertyPaths) -> tuple[Create, tuple[str, ...]]:
    """The nodes of a participant that the cluster does not know: its configuration, then its empty containers."""
    config = Create(paths.instance_config(instance), InstanceConfig.joining(instance).record)
    containers = (paths.instance(instance), *(paths.instance(instance, name) for name in INSTANCE_CONTAINERS))
    return config, containers


def carry_over(
    instance: str,
    session: str,
    old: Mapping[str, Sequence[CurrentState]],
    models: Mapping[str, StateModelDefinition],
    paths: PropertyPaths,
) -> list[Write]:
    """Enter the partitions of old sessions in the new one, in their initial states, and delete the old sessions.

    So the controller knows that the instance has had them, and drops those that it shall not have any more. A record
    of a state model that is not in the cluster is left out.
    """
    records: dict[str, CurrentState] = {}
    for current in (current for states in old.values() for current in states):
        model = models.get(current.state_model or "")
        if model is not None:
            newer = records.get(current.resource)
            records[current.resource] = current.carried_over(session, model.initial_state, newer)
    writes: list[Write] = [
        Put(paths.current_state(instance, session, resource), current.record) for resource, current in records.items()
    ]
    return writes + [Delete(paths.current_states(instance, old_session)) for old_session in old]
