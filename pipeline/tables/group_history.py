"""``__consumer_offsets`` as tables: what groups have committed, and who was in them, over time.

A group coordinator keeps its state in a topic like any other. A record's key says what it is about, its value what is
known of it now, and a null value deletes. The first two bytes of each are the version of what follows:

::

    key 0, 1     a committed offset    group string | topic string | partition I32
    key 2        a group               group string

    committed offset                   group
    0-3  offset           I64          0-3  protocol type            string
    3    leader epoch     I32          0-3  generation               I32
    0-3  metadata         string       0-3  protocol                 string, null in an empty group
    0-3  commit timestamp I64          0-3  leader's member id       string, null in an empty group
    1    expire timestamp I64          2-3  timestamp of the state   I64
                                       0-3  members: count I32, then each
                                              0-3  member id            string
                                              3    instance id          string or null
                                              0-3  client id, host      string, string
                                              1-3  rebalance timeout    I32
                                              0-3  session timeout      I32
                                              0-3  subscription         bytes
                                              0-3  assignment           bytes

    string  length I16, then UTF-8; length -1 is null        bytes  length I32, then the bytes

``assignment`` is the consumers' own format, which the broker does not read: version I16, then topics: count I32, and
for each its name, a count I32 and its partitions I32.

Newer brokers may write other versions. A record of an unknown version is not an error: a row says that it was there.

Kafka 0.10.2: core/.../coordinator/GroupMetadataManager.scala · book 3.5.2
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

COMMIT_KEY_VERSIONS = (0, 1)
GROUP_KEY_VERSION = 2
LATEST_VALUE_VERSION = 3

KEY_SCHEMA = "kind string, group string, topic string, partition int"
COMMIT_SCHEMA = "committed_offset long, metadata string, commit_timestamp_ms long"
MEMBER_SCHEMA = (
    "member_id string, client_id string, client_host string, session_timeout_ms int, "
    "assigned array<struct<topic: string, partition: int>>"
)
GROUP_SCHEMA = (
    f"protocol_type string, generation int, protocol string, leader string, members array<struct<{MEMBER_SCHEMA}>>"
)
COMMIT, GROUP = "commit", "group"


@dataclass
class Reader:
    """Reads fields one after the other; every method returns the next one and moves past it."""

    data: bytes
    position: int = 0

    def number(self, layout: str) -> int:
        """The next number, laid out as ``struct`` calls it: ``h`` I16, ``i`` I32, ``q`` I64; big-endian."""
        (number,) = struct.unpack_from(f">{layout}", self.data, self.position)
        self.position += struct.calcsize(f">{layout}")
        return int(number)

    def string(self) -> str | None:
        """The next string; None if its length is -1. The length counts bytes, not letters."""
        length = self.number("h")
        return None if length < 0 else self._take(length).decode()

    def bytes_(self) -> bytes:
        """The next bytes, with an I32 before them that says how many. A length of -1 is no bytes."""
        return self._take(max(0, self.number("i")))

    def _take(self, length: int) -> bytes:
        taken = self.data[self.position : self.position + length]
        self.position += length
        return taken


def decode_key(key: bytes) -> dict[str, Any] | None:
    """The key of a record, with the columns of KEY_SCHEMA: ``kind`` is ``commit`` or ``group``.

    ``topic`` and ``partition`` are those of a committed offset, None for a group. Returns None for a version that is
    not known.
    """
    reader = Reader(key)
    version = reader.number("h")
    if version in COMMIT_KEY_VERSIONS:
        return {
            "kind": COMMIT,
            "group": reader.string(),
            "topic": reader.string(),
            "partition": reader.number("i"),
        }
    if version == GROUP_KEY_VERSION:
        return {"kind": GROUP, "group": reader.string(), "topic": None, "partition": None}
    return None


def decode_commit(value: bytes | None) -> dict[str, Any] | None:
    """A committed offset, with the columns of COMMIT_SCHEMA. Returns None for null and for a version after 3."""
    if value is None:
        return None
    reader = Reader(value)
    version = reader.number("h")
    if version > LATEST_VALUE_VERSION:
        return None
    offset = reader.number("q")
    if version >= 3:
        reader.number("i")  # the leader epoch
    return {"committed_offset": offset, "metadata": reader.string(), "commit_timestamp_ms": reader.number("q")}


def decode_group(value: bytes | None) -> dict[str, Any] | None:
    """A generation of a group with its members, with the columns of GROUP_SCHEMA.

    Returns None for null and for a version after 3. Members stand in the order of the record.
    """
    if value is None:
        return None
    reader = Reader(value)
    version = reader.number("h")
    if version > LATEST_VALUE_VERSION:
        return None
    group: dict[str, Any] = {
        "protocol_type": reader.string(),
        "generation": reader.number("i"),
        "protocol": reader.string(),
        "leader": reader.string(),
    }
    if version >= 2:
        reader.number("q")  # since when it is in its state
    count = reader.number("i")
    return {**group, "members": [decode_member(reader, version) for _ in range(count)]}


def decode_member(reader: Reader, version: int) -> dict[str, Any]:
    """The next member of a group whose value has this version, with the columns of MEMBER_SCHEMA."""
    member: dict[str, Any] = {"member_id": reader.string()}
    if version >= 3:
        reader.string()  # the instance id
    member |= {"client_id": reader.string(), "client_host": reader.string()}
    if version >= 1:
        reader.number("i")  # the rebalance timeout
    member["session_timeout_ms"] = reader.number("i")
    reader.bytes_()  # the subscription
    return {**member, "assigned": decode_assignment(reader.bytes_())}


def decode_assignment(assignment: bytes) -> list[dict[str, Any]]:
    """The partitions that a member was assigned, each with ``topic`` and ``partition``; none if there are no bytes."""
    if not assignment:
        return []
    reader = Reader(assignment)
    reader.number("h")  # the version; later versions add fields at the end
    assigned = []
    for _ in range(reader.number("i")):
        topic = reader.string()
        assigned += [{"topic": topic, "partition": reader.number("i")} for _ in range(reader.number("i"))]
    return assigned


def commits(records: DataFrame) -> DataFrame:
    """Every commit ever made that is still in the log, as rows: one per record about a committed offset.

    ``log_offset`` and ``log_partition`` say where the record is in ``__consumer_offsets``, and ``time`` is its
    timestamp; then ``group``, ``topic``, ``partition``, ``committed_offset``, ``metadata``, ``commit_time`` (a
    timestamp), and ``deleted``: whether the record is a tombstone, for an offset that has expired or was deleted.
    ``records`` has the source's columns.
    """
    decode = F.udf(decode_commit, COMMIT_SCHEMA)
    rows = _of_kind(COMMIT, records)
    return rows.withColumn("commit", decode("value")).select(
        F.col("offset").alias("log_offset"),
        F.col("partition").alias("log_partition"),
        F.col("timestamp").alias("time"),
        "about.group",
        "about.topic",
        "about.partition",
        "commit.committed_offset",
        "commit.metadata",
        F.timestamp_millis("commit.commit_timestamp_ms").alias("commit_time"),
        F.col("value").isNull().alias("deleted"),
    )


def generations(records: DataFrame) -> DataFrame:
    """The history of the groups: one row per record about a group, also about one without members.

    ``log_offset``, ``log_partition`` and ``time``, the record's timestamp; ``group``, ``protocol_type``,
    ``generation``, ``protocol``, ``leader``, ``members`` (an array) and ``deleted``, whether the record is a tombstone.
    """
    decode = F.udf(decode_group, GROUP_SCHEMA)
    rows = _of_kind(GROUP, records)
    return rows.withColumn("state", decode("value")).select(
        F.col("offset").alias("log_offset"),
        F.col("partition").alias("log_partition"),
        F.col("timestamp").alias("time"),
        "about.group",
        "state.*",
        F.col("value").isNull().alias("deleted"),
    )


def assignments(generations: DataFrame) -> DataFrame:
    """The assignments: one row for each partition assigned to a member in a generation.

    ``group``, ``generation``, ``time``, ``member_id``, ``client_id``, ``topic``, ``partition``. A member without
    partitions has one row, too, in which ``topic`` and ``partition`` are null: it was there.
    """
    members = generations.select("group", "generation", "time", F.explode("members").alias("member"))
    return members.select(
        "group",
        "generation",
        "time",
        "member.member_id",
        "member.client_id",
        F.explode_outer("member.assigned").alias("assigned"),
    ).select("group", "generation", "time", "member_id", "client_id", "assigned.topic", "assigned.partition")


def _of_kind(kind: str, records: DataFrame) -> DataFrame:
    """The records of this kind, with the decoded key in the column ``about``."""
    keyed = records.withColumn("about", F.udf(decode_key, KEY_SCHEMA)("key"))
    is_meant = F.col("about.kind") == kind
    # Spark may run a decoder on rows that the filter drops. It must not see values of the other kind.
    return keyed.withColumn("value", F.when(is_meant, F.col("value"))).where(is_meant)
