"""A topic's ideal state and external view, as the REST interface and the backup show them.

    {"topic": "t",
     "externalView": {"0": ["w1"]}, "idealState": {"0": ["w1"]},                   instances per partition
     "serverToPartitionMapping": {"w1": ["0"]},                                    what is ONLINE, per instance
     "serverToNumPartitionsMapping": {"w1": 1}}

uReplicator kafka-0.10.2.1: uReplicator-Controller/.../controller/rest/resources/TopicManagementRestletResource.java,
uReplicator-Controller/.../mirrormaker/controller/core/ClusterInfoBackupManager.java · book 8.2.2
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.mirror.helix.model.ideal_state import IdealState
from kafka_lite.mirror.helix.zn_record import ZNRecord
from kafka_lite.mirror.ureplicator.helix_names import ONLINE

Maps = Mapping[str, Mapping[str, str]]


def topic_mappings(
    topic: str, ideal_state: IdealState, external_view: ZNRecord, ideal_state_name: str = "idealState"
) -> dict[str, object]:
    """The JSON of a topic. The backup has another name for the ideal state."""
    online = online_partitions(external_view.map_fields)
    return {
        "topic": topic,
        "externalView": _instances(external_view.map_fields),
        ideal_state_name: _instances(ideal_state.record.map_fields),
        "serverToPartitionMapping": online,
        "serverToNumPartitionsMapping": {instance: len(partitions) for instance, partitions in online.items()},
    }


def online_partitions(view: Maps) -> dict[str, list[str]]:
    """Per instance the names of the partitions that are ONLINE there, in the order of their numbers."""
    found: dict[str, list[str]] = {}
    for partition in sorted(view, key=_number):
        for instance, state in view[partition].items():
            if state == ONLINE:
                found.setdefault(instance, []).append(partition)
    return found


def _instances(maps: Maps) -> dict[str, list[str]]:
    """Per partition its instances, whatever their states. A partition without any is left out."""
    return {partition: list(maps[partition]) for partition in sorted(maps, key=_number) if maps[partition]}


def _number(partition: str) -> tuple[int, str]:
    return (int(partition) if partition.isascii() and partition.isdigit() else 0, partition)
