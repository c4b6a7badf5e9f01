"""Watches for the offsets of replicas: log end offsets, high watermarks, and what a leader knows of its followers.

They work on the brokers of ``run_clusters`` and on those of ``replicas_by_hand``.
"""

from __future__ import annotations

from kafka_learn.recording.cluster_watches import broker_lane, note_change
from kafka_learn.recording.recorded_run import Kind
from kafka_learn.recording.recorder import Call, Watch
from kafka_lite.cluster.partition import Partition
from kafka_lite.cluster.replica import Replica
from kafka_lite.server.replication.replica_fetcher_thread import ReplicaFetcherThread


def watch_offsets() -> list[Watch]:
    """Every change of a local replica's LEO and HW, and of what a leader knows of its followers' LEOs."""
    return [
        Watch.of(Partition.append_records_to_leader, _note_own_end, _own_end_moved),
        Watch.of(ReplicaFetcherThread.process_partition_data, _note_fetcher_end, _fetcher_end_moved),
        Watch.of(ReplicaFetcherThread._cut, _note_cut),
        Watch.of(Partition.update_follower_log_end_offset, _note_remote_end, _remote_end_moved),
        Watch(Replica, "__setattr__", _note_high_watermark, _high_watermark_moved),
    ]


def _note_own_end(call: Call) -> None:
    partition: Partition = call.subject
    call.scratch = partition.log.log_end_offset if partition.log is not None else None


def _own_end_moved(call: Call) -> None:
    partition: Partition = call.subject
    if partition.log is not None and call.error is None:
        note_change(call, broker_lane(partition.local_broker_id), "LEO", call.scratch, partition.log.log_end_offset)


def _note_fetcher_end(call: Call) -> None:
    call.scratch = call.subject._local(call.argument("partition"))[2].log_end_offset


def _fetcher_end_moved(call: Call) -> None:
    fetcher: ReplicaFetcherThread = call.subject
    end = fetcher._local(call.argument("partition"))[2].log_end_offset
    note_change(call, broker_lane(fetcher._config.broker_id), "LEO", call.scratch, end)


def _note_cut(call: Call) -> None:
    fetcher: ReplicaFetcherThread = call.subject
    for topic_partition, offset in call.argument("offsets").items():
        end = fetcher._local(topic_partition)[2].log_end_offset
        text = f"truncates from {end} to {offset}" if offset < end else f"nothing to truncate: LEO {end}"
        call.emit(Kind.NOTE, broker_lane(fetcher._config.broker_id), text)


def _known_end(call: Call) -> int | None:
    replica = call.subject.get_replica(call.argument("broker_id"))
    return replica.log_end_offset.message_offset if replica is not None else None


def _note_remote_end(call: Call) -> None:
    call.scratch = _known_end(call)


def _remote_end_moved(call: Call) -> None:
    if call.error is None:
        lane = broker_lane(call.subject.local_broker_id)
        note_change(call, lane, f"LEO of {call.argument('broker_id')}", call.scratch, _known_end(call))


def _note_high_watermark(call: Call) -> None:
    replica: Replica = call.subject
    if call.argument("name") == "high_watermark" and replica.is_local:
        call.scratch = replica.high_watermark.message_offset
        call.hold_place()


def _high_watermark_moved(call: Call) -> None:
    replica: Replica = call.subject
    if call.argument("name") == "high_watermark" and replica.is_local and call.scratch is not None:
        note_change(call, broker_lane(replica.broker_id), "HW", call.scratch, replica.high_watermark.message_offset)
