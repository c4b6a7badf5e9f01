"""Writes transactions into the log of partition 0 of topic ``t``, as the leader does for any coordinator."""

from __future__ import annotations

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.testing import Cluster
from tests.support.compaction import keyed_set

COMMIT, ABORT = ControlRecordType.COMMIT, ControlRecordType.ABORT
TP = TopicPartition("t", 0)


def append(cluster: Cluster, data: bytes | bytearray) -> None:
    replicas = cluster.server.replica_manager
    partition = replicas.get_partition(TP)
    assert partition is not None
    partition.append_records_to_leader(bytearray(data), 1, AppendOrigin.COORDINATOR)
    replicas.complete_delayed_requests(TP)


def send(cluster: Cluster, producer_id: int, sequence: int, *values: bytes) -> None:
    append(
        cluster,
        keyed_set(
            *((b"k", value) for value in values),
            timestamp=int(cluster.time.milliseconds()),
            producer_id=producer_id,
            producer_epoch=0,
            base_sequence=sequence,
            is_transactional=True,
        ),
    )


def end(cluster: Cluster, producer_id: int, kind: ControlRecordType) -> None:
    append(cluster, EndTransactionMarker(kind, 0).to_batch(producer_id, 0, int(cluster.time.milliseconds())))


def write_history(cluster: Cluster) -> None:
    """Producer 7 aborts and then commits, 8 commits, 9 is still open, and there is a record outside of transactions."""
    send(cluster, 7, 0, b"aborted 1", b"aborted 2")
    send(cluster, 8, 0, b"committed by 8")
    end(cluster, 7, ABORT)
    send(cluster, 7, 2, b"committed by 7")
    cluster.produce("t", b"outside")
    end(cluster, 8, COMMIT)
    end(cluster, 7, COMMIT)
    send(cluster, 9, 0, b"open")
    cluster.produce("t", b"behind")


COMMITTED = [b"committed by 8", b"committed by 7", b"outside"]
ALL = [b"aborted 1", b"aborted 2", *COMMITTED, b"open", b"behind"]
STABLE, END = 8, 10
