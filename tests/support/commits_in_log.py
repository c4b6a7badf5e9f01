"""Every commit of a group in the order of the log, whatever the coordinator made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from kafka_lite.common.topic_names import GROUP_METADATA_TOPIC_NAME
from kafka_lite.coordinator.group import group_metadata_records as group_records
from kafka_lite.protocol.messages.group_records import OffsetCommitKey
from kafka_lite.record.records import batches


def commits_in_log(log_dir: Path, group: str, topic: str) -> dict[int, list[int]]:
    """The offsets that the group committed, by partition of the topic, as the segments in a log directory have them.

    The segments must not be compacted. A broker may be writing to them.
    """
    committed: dict[int, list[int]] = {}
    for segment in sorted(log_dir.glob(f"{GROUP_METADATA_TOPIC_NAME}-*/*.log")):
        for batch in batches(segment.read_bytes()):
            for record in [] if batch.is_control else batch.records():
                key = group_records.read_key(record.key or b"")
                if isinstance(key, OffsetCommitKey) and (key.group, key.topic) == (group, topic) and record.value:
                    offset = group_records.read_offset_value(record.value).offset
                    committed.setdefault(key.partition, []).append(offset)
    return committed


def is_resent(commits: Sequence[int], newer: int, older: int) -> bool:
    """Whether the log has the older commit after the newer one: a client sent it anew, and no commit is lost."""
    return newer in commits and older in commits[commits.index(newer) :]


def explained(commits: Mapping[int, Sequence[int]], before: Mapping[int, int], found: Mapping[int, int]) -> bool:
    """Whether each partition whose offset went back has both commits in its log, in this order."""
    went_back = [partition for partition, offset in found.items() if offset < before[partition]]
    return all(is_resent(commits.get(each, ()), before[each], found[each]) for each in went_back)
