"""Fetches the batches of an offset range, the input of one Spark task, from the partition's leader.

Kafka 0.10.2: clients/.../clients/consumer/internals/Fetcher.java · book 4.1.4
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass

from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.protocol.messages.api_01_fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from kafka_lite.record.record_batch import RecordBatch
from kafka_lite.record.records import batches
from kafka_lite.spark.cluster_client import ClusterClient, ClusterUnreachableError
from kafka_lite.spark.options import ReadOptions
from kafka_lite.spark.reading.committed_batches import visible_batches
from kafka_lite.spark.reading.offset_reader import OffsetReader, isolation_level
from kafka_lite.spark.reading.planner import OffsetRange, ReportDataLoss

logger = logging.getLogger(__name__)

_RETRY_PAUSE_MS = 100
_CONSUMER_REPLICA_ID = -1


class PollTimeoutError(KafkaError):
    """Records that should exist did not arrive within ``kafkaConsumer.pollTimeoutMs``."""


@dataclass(frozen=True)
class Fetched:
    """The complete batches of one response, the requested offset, and the offset to continue from.

    Brokers return whole batches, so the first one may begin with records before ``from_offset``.
    """

    batches: list[RecordBatch]
    from_offset: int
    next_offset: int


class PartitionFetcher:
    """Reads ``[from_offset, until_offset)`` of one partition, response by response."""

    def __init__(
        self,
        client: ClusterClient,
        options: ReadOptions,
        offset_range: OffsetRange,
        report: ReportDataLoss,
        time: Time = SYSTEM_TIME,
    ) -> None:
        self._client = client
        self._options = options
        self._range = offset_range
        self._report = report
        self._time = time

    def fetch(self) -> Iterator[Fetched]:
        """Yield non-empty responses until the range is read; the last batch may extend beyond it.

        Offsets missing within it are gaps left by compaction or transactions. Raises ``PollTimeoutError``,
        ``ApiError``, and whatever ``report`` raises if the log no longer has the offset to read.
        """
        position = self._range.from_offset
        deadline = self._deadline()
        while position < self._range.until_offset:
            fetched = self._fetch_from(position, deadline)
            if fetched.next_offset > position:
                position = fetched.next_offset
                deadline = self._deadline()
            if fetched.batches:
                yield fetched

    def _deadline(self) -> float:
        return self._time.hi_res_ms() + self._options.poll_timeout_ms

    def _fetch_from(self, position: int, deadline: float) -> Fetched:
        """Fetch the next batches, retrying until the deadline if there are none or the leader changes."""
        while True:
            failure: Exception | None = None
            try:
                data = self._ask_leader(position)
            except (OSError, ApiError, ClusterUnreachableError) as error:
                if isinstance(error, ApiError) and not error.retriable:
                    raise
                failure = error
                self._client.forget_leader(self._range.topic_partition)
                self._time.sleep(_RETRY_PAUSE_MS)
            else:
                fetched = self._visible(data, position) if data else self._skip_unavailable(position)
                if fetched:
                    return fetched
            if self._time.hi_res_ms() >= deadline:
                return self._give_up(position, failure)

    def _give_up(self, position: int, failure: Exception | None) -> Fetched:
        """The end of the range if the partition has been deleted, which is a loss of data; else an error."""
        partition, until = self._range.topic_partition, self._range.until_offset
        if isinstance(failure, ApiError) and failure.error is Errors.UNKNOWN_TOPIC_OR_PARTITION:
            self._report(f"offsets from {position} to {until} of {partition} are gone: there is no such partition")
            return Fetched([], position, until)
        cause = failure or "no records arrived"
        raise PollTimeoutError(
            f"cannot fetch offset {position} of {partition} in {self._options.poll_timeout_ms} ms: {cause}"
        )

    def _ask_leader(self, position: int) -> PartitionData | None:
        """The leader's response; None if its log does not have the offset.

        Raises ``OSError``, ``ApiError``, ``ClusterUnreachableError``.
        """
        node_id = self._client.leader_of(self._range.topic_partition)
        response = self._client.connection(node_id).exchange(self._request(position), FetchResponse)
        data = None if response.error_code else response.responses[0].partitions[0]
        error = Errors.for_code(response.error_code or (data.error_code if data else 0))
        if error is Errors.OFFSET_OUT_OF_RANGE:
            return None
        if error is not Errors.NONE:
            raise error.exception()
        return data

    def _request(self, position: int) -> FetchRequest:
        topic, partition = self._range.topic_partition
        consumer = self._options.consumer
        max_bytes = consumer["max.partition.fetch.bytes"]
        wanted = FetchPartition(partition=partition, fetch_offset=position, partition_max_bytes=max_bytes)
        return FetchRequest(
            replica_id=_CONSUMER_REPLICA_ID,
            max_wait_ms=consumer["fetch.max.wait.ms"],
            min_bytes=consumer["fetch.min.bytes"],
            max_bytes=consumer["fetch.max.bytes"],
            isolation_level=isolation_level(self._options),
            topics=[FetchTopic(topic=topic, partitions=[wanted])],
        )

    def _visible(self, data: PartitionData, position: int) -> Fetched | None:
        """The complete batches of a response that are visible to a consumer; None if no batch is complete."""
        complete = list(batches(data.records)) if isinstance(data.records, memoryview) else []
        if not complete:
            return None
        if self._options.consumer["check.crcs"]:
            for batch in complete:
                batch.ensure_valid()
        aborted = [(aborted.producer_id, aborted.first_offset) for aborted in data.aborted_transactions or ()]
        return Fetched(list(visible_batches(complete, aborted)), position, complete[-1].next_offset)

    def _skip_unavailable(self, position: int) -> Fetched | None:
        """Continue at the log's start, or at the range's end; returns None if the log has ``position`` again."""
        partition, until = self._range.topic_partition, self._range.until_offset
        offsets = OffsetReader(self._client, self._options, self._time)
        earliest = offsets.earliest([partition])[partition]
        latest = offsets.latest([partition])[partition]
        available = f"the log has offsets from {earliest} to {latest}"
        if position < earliest:
            self._report(
                f"offsets from {position} to {min(earliest, until)} of {partition} are no longer available: {available}"
            )
            return Fetched([], position, min(earliest, until))
        if position > latest:
            self._report(f"offsets from {position} to {until} of {partition} do not exist: {available}")
            return Fetched([], position, until)
        self._time.sleep(_RETRY_PAUSE_MS)  # the topic was recreated and has grown past it, or the leader is behind
        return None
