"""Kafka 4.1's tools: features of our cluster, and records of ``__transaction_state`` as our coordinator writes them."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction import transaction_log
from kafka_lite.coordinator.transaction.transaction_metadata import MAX_EPOCH, TxnTransitMetadata
from kafka_lite.coordinator.transaction.transaction_state import TransactionState
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.testing.cluster import Cluster
from tests.support.jvm import classpath, java_command
from tests.support.kafka_tools import JARS, KafkaTools, our_tool
from tests.support.patience import patient_s

pytestmark = pytest.mark.jvm

KAFKA, TOOL = "4.1.0", "org.apache.kafka.tools.FeatureCommand"


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    with Cluster() as cluster:
        yield cluster.bootstrap_servers


def test_features_are_seen_and_changed_by_kafkas_tool_as_by_ours(bootstrap: str) -> None:
    where = ("--bootstrap-server", bootstrap)
    with KafkaTools(KAFKA, with_errors=True) as kafkas:
        theirs, ours = kafkas.run(TOOL, *where, "describe"), our_tool("features", *where, "describe")
        assert theirs.output.splitlines() == ours.output.splitlines()
        assert (
            "transaction.version\tSupportedMinVersion: 0\tSupportedMaxVersion: 2\tFinalizedVersionLevel: 2"
            in ours.output
        )
        for arguments in (
            ("upgrade", "--feature", "share.version=1", "--dry-run"),
            ("upgrade", "--feature", "share.version=7"),
            ("upgrade", "--feature", "transaction.version=1"),
            ("upgrade", "--feature", "transaction.version=2", "--feature", "no.version=1"),
            ("downgrade", "--feature", "share.version=1"),
            ("upgrade",),
            ("upgrade", "--feature", "share.version"),
            ("version-mapping", "--release-version", "3.7.1"),
            ("feature-dependencies", "--feature", "eligible.leader.replicas.version=1"),
        ):
            theirs, ours = kafkas.run(TOOL, *where, *arguments), our_tool("features", *where, *arguments)
            assert (theirs.code == 0) == (ours.code == 0), arguments
            wanted = [line for line in theirs.output.splitlines() if not line.startswith("\tat ")]
            for line in wanted:
                assert line in ours.output, arguments
        upgraded = kafkas(TOOL, *where, "upgrade", "--feature", "share.version=1")
        assert upgraded.strip() == "share.version was upgraded to 1."
        disabled = kafkas(TOOL, *where, "disable", "--feature", "share.version")
        assert disabled.strip() == "share.version was disabled."
        described = our_tool("features", *where, "describe").output
    assert re.search(r"share.version\t.*FinalizedVersionLevel: 0\tEpoch: 2", described)


# ── the log of transactions ───────────────────────────────────────────────────────────────────────────────────────

ONGOING = TxnTransitMetadata(
    producer_id=1000, producer_epoch=5, last_producer_id=1000, last_producer_epoch=4, timeout_ms=60_000,
    state=TransactionState.ONGOING, topic_partitions=frozenset({TopicPartition("a", 1), TopicPartition("b", 0)}),
    start_timestamp_ms=1_600_000_000_000, last_update_timestamp_ms=1_600_000_000_500, client_transaction_version=2,
)  # fmt: skip
DECIDED = dataclasses.replace(
    ONGOING, state=TransactionState.PREPARE_COMMIT, producer_epoch=MAX_EPOCH, next_producer_id=2000
)
ENDED = dataclasses.replace(
    DECIDED, state=TransactionState.COMPLETE_COMMIT, producer_id=2000, producer_epoch=0, next_producer_id=-1,
    topic_partitions=frozenset(),
)  # fmt: skip


def test_kafka_reads_what_our_coordinator_writes(tmp_path: Path) -> None:
    builder = MemoryRecordsBuilder()
    written = [(ONGOING, 0), (ONGOING, 2), (DECIDED, 2), (ENDED, 1)]
    for transit, version in written:
        builder.append(1, transaction_log.key_of("id"), transaction_log.value_of(transit, version))
    builder.append(1, transaction_log.key_of("id"), None)
    (tmp_path / f"{0:020d}.log").write_bytes(builder.build())
    arguments = ("--transaction-log-decoder", "--files", f"{0:020d}.log")
    command = java_command("kafka.tools.DumpLogSegments", *arguments, classpath=classpath(*JARS[KAFKA]))
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=patient_s(100), check=True)
    lines = [line for line in done.stdout.splitlines() if " payload: " in line]
    assert len(lines) == len(written) + 1
    assert all('key: {"type":"0","data":{"transactionalId":"id"}}' in line for line in lines)
    for line, (transit, version) in zip(lines, written, strict=False):
        payload: dict[str, Any] = json.loads(line.partition(" payload: ")[2])
        assert payload["version"] == str(min(version, 1))
        assert payload["data"] == as_json(transit, version)
    assert "<DELETE>" in lines[-1]


def as_json(transit: TxnTransitMetadata, version: int) -> dict[str, Any]:
    """The fields of a value, as Kafka's converter writes them: tagged ones only if they say something."""
    fields = {
        "producerId": transit.producer_id,
        "producerEpoch": transit.producer_epoch,
        "transactionTimeoutMs": transit.timeout_ms,
        "transactionStatus": int(transit.state),
        "transactionPartitions": [
            {"topic": topic, "partitionIds": [partition]} for topic, partition in sorted(transit.topic_partitions)
        ],
        "transactionLastUpdateTimestampMs": transit.last_update_timestamp_ms,
        "transactionStartTimestampMs": transit.start_timestamp_ms,
    }
    if version > 0:
        fields["clientTransactionVersion"] = transit.client_transaction_version
        if transit.last_producer_id != transit.producer_id:
            fields["previousProducerId"] = transit.last_producer_id
        if transit.next_producer_id != -1:
            fields["nextProducerId"] = transit.next_producer_id
    return fields
