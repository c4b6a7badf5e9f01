"""The JSON files of the partition tools: lists of partitions, of topics, and assignments of replicas.

Kafka 0.10.2: core/.../admin/ReassignPartitionsCommand.scala, admin/PreferredReplicaLeaderElectionCommand.scala
· book 7.1.6
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.tools.common.tool_errors import ToolError

Assignments = dict[TopicPartition, list[int]]
Replica = tuple[int, TopicPartition]
"""The broker and the partition."""
LogDirs = dict[Replica, str]
ANY_LOG_DIR = "any"


def read_assignments(path: Path) -> Assignments:
    """``{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2]}]}``. Raises ToolError, OSError."""
    found: Assignments = {}
    entries = _entries(path, "partitions")
    for entry in entries:
        replicas = entry.get("replicas")
        if not isinstance(replicas, list) or not all(type(replica) is int for replica in replicas):
            raise ToolError(f"{path}: the replicas of a partition must be broker ids, not {replicas!r}")
        if not replicas:
            raise ToolError("Partition replica list cannot be empty")
        found[_partition(entry, path)] = replicas
    _check_no_duplicates([_partition(entry, path) for entry in entries], "Partition reassignment")
    for partition, replicas in found.items():
        if twice := [replica for replica, count in Counter(replicas).items() if count > 1]:
            message = "Partition replica lists may not contain duplicate entries:"
            raise ToolError(f"{message} {partition} contains multiple entries for {','.join(map(str, twice))}")
    if not found:
        raise ToolError("Partition reassignment list cannot be empty")
    return found


def read_log_dirs(path: Path) -> LogDirs:
    """The ``log_dirs`` of the same file: one for each replica, unless it is ``any``. Raises ToolError, OSError."""
    found: LogDirs = {}
    for entry in _entries(path, "partitions"):
        partition, replicas = _partition(entry, path), entry["replicas"]
        log_dirs = entry.get("log_dirs", [ANY_LOG_DIR] * len(replicas))
        if not isinstance(log_dirs, list) or not all(isinstance(log_dir, str) for log_dir in log_dirs):
            raise ToolError(f"{path}: the log_dirs of a partition must be paths or {ANY_LOG_DIR!r}, not {log_dirs!r}")
        if len(replicas) != len(log_dirs):
            raise ToolError(
                f"Size of replicas list {replicas} is different from size of log dirs list {log_dirs} for partition "
                f"{partition}"
            )
        pairs = zip(replicas, log_dirs, strict=True)
        found |= {(broker, partition): log_dir for broker, log_dir in pairs if log_dir != ANY_LOG_DIR}
    return found


def read_partitions(path: Path) -> list[TopicPartition]:
    """``{"partitions":[{"topic":"t","partition":0}]}``. Raises ToolError, OSError."""
    partitions = [_partition(entry, path) for entry in _entries(path, "partitions")]
    _check_no_duplicates(partitions, "Replica election data")
    return partitions


def read_topics(path: Path) -> list[str]:
    """``{"version":1,"topics":[{"topic":"t"}]}``. Raises ToolError, OSError."""
    topics = [entry.get("topic") for entry in _entries(path, "topics")]
    if not all(isinstance(topic, str) for topic in topics):
        raise ToolError(f"{path}: each topic needs a name, such as {{'topic':'t'}}")
    names = [str(topic) for topic in topics]
    if twice := [topic for topic, count in Counter(names).items() if count > 1]:
        raise ToolError(f"List of topics to reassign contains duplicate entries: {','.join(twice)}")
    return names


def format_assignments(assignments: Mapping[TopicPartition, list[int]]) -> str:
    """The JSON that ``read_assignments`` reads, with ``any`` for all ``log_dirs``, as Kafka writes it."""
    partitions = [
        {"topic": tp.topic, "partition": tp.partition, "replicas": replicas, "log_dirs": [ANY_LOG_DIR] * len(replicas)}
        for tp, replicas in sorted(assignments.items())
    ]
    return json.dumps({"version": 1, "partitions": partitions}, separators=(",", ":"))


def _entries(path: Path, key: str) -> list[dict[str, Any]]:
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise ToolError(f"{path}: not valid JSON: {error}") from error
    entries = value.get(key) if isinstance(value, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ToolError(f'{path}: has no list "{key}"')
    return entries


def _partition(entry: Mapping[str, Any], path: Path) -> TopicPartition:
    topic, partition = entry.get("topic"), entry.get("partition")
    if not isinstance(topic, str) or type(partition) is not int:
        raise ToolError(f"{path}: each entry needs a topic and the number of a partition, not {dict(entry)}")
    return TopicPartition(topic, partition)


def _check_no_duplicates(partitions: Iterable[TopicPartition], what: str) -> None:
    twice = [str(partition) for partition, count in Counter(partitions).items() if count > 1]
    if twice:
        raise ToolError(f"{what} contains duplicate topic partitions: {','.join(twice)}")
