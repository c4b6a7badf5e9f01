"""The administrator of a Helix cluster: sets it up, adds and drops resources, disables, pauses, resets.

Helix 0.6.9: helix-core/.../manager/zk/ZKHelixAdmin.java · book 8.2.2
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable

from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.mirror.helix.helix_errors import HelixError
from kafka_lite.mirror.helix.manager.zk_helix_data_accessor import ZKHelixDataAccessor
from kafka_lite.mirror.helix.model.ideal_state import IdealState
from kafka_lite.mirror.helix.model.state_model_definition import StateModelDefinition
from kafka_lite.mirror.helix.reset import reset_partition
from kafka_lite.mirror.helix.stages.cluster_data import ClusterData
from kafka_lite.mirror.helix.writes import Create, Delete, Put
from kafka_lite.mirror.helix.zn_record import ZNRecord

AUTO_JOIN = {"STATE_TRANSITION.maxThreads": "100", "allowParticipantAutoJoin": "true"}
"""The configuration of uReplicator's cluster: workers enter themselves."""


class ZKHelixAdmin:
    """The operations of an administrator on one cluster."""

    def __init__(self, accessor: ZKHelixDataAccessor, name: str = "admin", time: Time = SYSTEM_TIME) -> None:
        self._accessor = accessor
        self._paths = accessor.paths
        self._name = name
        self._time = time

    def add_cluster(self, state_models: Iterable[StateModelDefinition] = ()) -> None:
        """Create the cluster, if it is not there, with these state models."""
        self._accessor.zk.ensure_paths(self._paths.setup_paths)
        cluster = self._paths.cluster
        self._accessor.apply(
            [
                Put(self._paths.cluster_config, ZNRecord(cluster, AUTO_JOIN)),
                *(Create(self._paths.state_model(each.name), each.to_record()) for each in state_models),
            ]
        )

    def add_resource(self, ideal_state: IdealState) -> None:
        """Add a resource, or change where its partitions should be."""
        resource = ideal_state.resource
        self._accessor.apply(
            [
                Create(self._paths.resource_config(resource), ZNRecord(resource)),
                Put(self._paths.ideal_state(resource), ideal_state.record),
            ]
        )

    def drop_resource(self, resource: str) -> None:
        """Remove a resource: its replicas go to their initial states, and are dropped."""
        self._accessor.apply([Delete(self._paths.ideal_state(resource)), Delete(self._paths.resource_config(resource))])

    def enable_instance(self, instance: str, enabled: bool) -> None:
        """Let an instance have partitions, or take them all away. Raises HelixError if it is not known."""
        path = self._paths.instance_config(instance)
        record = self._accessor.get(path)
        if record is None:
            raise HelixError(f"{instance} is not an instance of {self._paths.cluster}")
        self._accessor.apply([Put(path, record.with_simple(HELIX_ENABLED=str(enabled).lower()))])

    def pause(self) -> None:
        """Make the controller send nothing, until ``resume``."""
        self._accessor.apply([Put(self._paths.pause, ZNRecord("pause"))])

    def resume(self) -> None:
        """Let the controller send messages again; it looks at the whole cluster first."""
        self._accessor.apply([Delete(self._paths.pause)])

    def reset_partition(self, instance: str, resource: str, partition: str) -> None:
        """Ask an instance to take a partition out of ERROR. Raises HelixError if it is not in ERROR."""
        data = ClusterData.read(self._accessor, self._paths)
        message_id, now_ms = str(uuid.uuid4()), self._time.milliseconds()
        what = (instance, resource, partition)
        self._accessor.apply(
            [reset_partition(data, self._paths, *what, message_id=message_id, now_ms=now_ms, admin=self._name)]
        )
