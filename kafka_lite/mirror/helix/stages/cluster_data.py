"""Stage 1, reading: all that the controller knows of its cluster, as one value.

The order of reading matters. A participant writes its current state before it deletes the message, so the messages
are read before the current states: a transition that ends in between is seen in both, and never in neither. The other
way round the controller could miss a new MASTER, and make a second one.

Helix 0.6.9: helix-core/.../controller/stages/ReadClusterDataStage.java,
helix-core/.../controller/stages/ClusterDataCache.java · book 8.2.2
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from kafka_lite.mirror.helix.helix_errors import UnreadableRecordError
from kafka_lite.mirror.helix.model.cluster_constraints import ConstraintItem, message_constraints
from kafka_lite.mirror.helix.model.current_state import CurrentState
from kafka_lite.mirror.helix.model.ideal_state import IdealState
from kafka_lite.mirror.helix.model.instance_config import InstanceConfig
from kafka_lite.mirror.helix.model.live_instance import LiveInstance
from kafka_lite.mirror.helix.model.message import Message
from kafka_lite.mirror.helix.model.state_model_definition import StateModelDefinition
from kafka_lite.mirror.helix.property_paths import PropertyPaths
from kafka_lite.mirror.helix.zn_record import ZNRecord

logger = logging.getLogger(__name__)

Property = TypeVar("Property")


class RecordReader(Protocol):
    """Where records are: ZooKeeper, or a tree in memory."""

    def children(self, path: str) -> Sequence[str]:
        """The names of a znode's children; none if there is no such znode."""

    def get(self, path: str) -> ZNRecord | None:
        """A znode's record; None if the znode or its value is missing. Raises UnreadableRecordError."""


@dataclass(frozen=True)
class ClusterData:
    """A cluster as the controller has read it."""

    ideal_states: Mapping[str, IdealState] = field(default_factory=dict)
    live_instances: Mapping[str, LiveInstance] = field(default_factory=dict)
    instance_configs: Mapping[str, InstanceConfig] = field(default_factory=dict)
    state_models: Mapping[str, StateModelDefinition] = field(default_factory=dict)
    constraints: Sequence[ConstraintItem] = ()
    messages: Mapping[str, Sequence[Message]] = field(default_factory=dict)
    """Of live instances."""
    current_states: Mapping[str, Mapping[str, CurrentState]] = field(default_factory=dict)
    """Of live instances, per resource, in their present sessions."""
    external_views: Mapping[str, ZNRecord] = field(default_factory=dict)

    @classmethod
    def read(cls, reader: RecordReader, paths: PropertyPaths) -> ClusterData:
        """All of a cluster. A record that cannot be read is logged, and counts as missing, as in Helix."""
        live = _children(reader, paths.live_instances, LiveInstance)
        messages = {name: list(_children(reader, paths.messages(name), Message).values()) for name in live}
        current = {
            name: _children(reader, paths.current_states(name, instance.session), CurrentState)
            for name, instance in live.items()
        }
        return cls(
            ideal_states=_children(reader, paths.ideal_states, IdealState),
            live_instances=live,
            instance_configs=_children(reader, paths.configs("PARTICIPANT"), InstanceConfig),
            state_models=_children(reader, paths.state_models, StateModelDefinition.from_record),
            constraints=message_constraints(_get(reader, paths.message_constraints)),
            messages=messages,
            current_states=current,
            external_views=_children(reader, paths.external_views, lambda record: record),
        )

    def disabled_instances(self, resource: str, partition: str) -> frozenset[str]:
        """The instances that must not have this partition."""
        configs = self.instance_configs.items()
        return frozenset(name for name, config in configs if not config.enabled_for(resource, partition))


def _children(reader: RecordReader, path: str, make: Callable[[ZNRecord], Property]) -> dict[str, Property]:
    properties = {}
    for name in sorted(reader.children(path)):
        try:
            record = reader.get(f"{path}/{name}")
            if record is not None:  # it may have gone since its name was read
                properties[name] = make(record)
        except UnreadableRecordError as error:
            logger.error("%s/%s is ignored: %s", path, name, error)
    return properties


def _get(reader: RecordReader, path: str) -> ZNRecord | None:
    try:
        return reader.get(path)
    except UnreadableRecordError as error:
        logger.error("%s is ignored: %s", path, error)
        return None
