"""An example of SimpleConsumer: it does by hand everything that the high-level consumer does itself.

Kafka 0.10.2: examples/.../SimpleConsumerDemo.java, and the project's wiki: 0.8.0 SimpleConsumer Example
· book 3.6.1, 3.6.2, 3.6.3, 3.6.4
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from kafka_lite.clients.broker_end_point import BrokerEndPoint
from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.old_consumer.simple.simple_consumer import EARLIEST_TIME, LATEST_TIME, SimpleConsumer
from kafka_lite.old_consumer.simple.simple_fetch import FetchRequestBuilder
from kafka_lite.record.record import Record

logger = logging.getLogger(__name__)

SO_TIMEOUT_MS = 100_000
BUFFER_BYTES = 64 * 1024
FETCH_BYTES = 100_000
MAX_WAIT_MS = 100
RETRIES = 5
RETRY_BACKOFF_MS = 1000


class SimpleExample:
    """Reads a partition from its beginning, and follows its leader.

    ::

        find_leader ──▶ read_offset ──▶ ┌▶ fetch ── an error ──▶ OFFSET_OUT_OF_RANGE: read_offset, at the end
        (3.6.2)         (3.6.3)         │    │                   else: find_new_leader
                                        │    ▼
                                        └─ consume (3.6.4): the offset advances past each message
    """

    def __init__(
        self,
        seed_brokers: Sequence[BrokerEndPoint],
        partition: TopicPartition,
        time: Time = SYSTEM_TIME,
        retry_backoff_ms: float = RETRY_BACKOFF_MS,
    ) -> None:
        self._brokers = list(seed_brokers)
        self._partition = partition
        self._time = time
        self._retry_backoff_ms = retry_backoff_ms
        self._client_name = f"Client_{partition.topic}_{partition.partition}"

    def run(self, max_reads: int, consume: Callable[[Record], None]) -> None:
        """Pass ``max_reads`` messages to ``consume``; waits for messages that are not written yet.

        Raises KafkaError if no leader is found, or after more than five errors in a row.
        """
        leader = self._must_find_leader()
        with ExitStack() as stack:
            consumer = stack.enter_context(self._consumer(leader))
            offset: int | None = None
            start_at, errors = EARLIEST_TIME, 0
            while max_reads > 0:
                try:
                    if offset is None:
                        offset = self.read_offset(consumer, start_at)
                    records = self.fetch(consumer, offset)
                except (ConnectionError, KafkaError) as error:
                    errors += 1
                    if errors > RETRIES:
                        raise KafkaError(f"gave up on {self._partition} after {errors} errors: {error}") from error
                    logger.warning("Error fetching data from the broker %s: %s", leader, error)
                    if isinstance(error, ApiError) and error.error is Errors.OFFSET_OUT_OF_RANGE:
                        offset, start_at = None, LATEST_TIME
                    else:
                        consumer.close()
                        leader = self.find_new_leader(leader)
                        consumer = stack.enter_context(self._consumer(leader))
                    continue
                errors = 0
                for record in records[:max_reads]:
                    consume(record)
                    offset = record.offset + 1
                    max_reads -= 1

    def find_leader(self) -> BrokerEndPoint | None:
        """Ask the known brokers in turn for the partition's leader, and remember its replicas."""
        for seed in self._brokers:
            with self._consumer(seed) as consumer:
                try:
                    metadata = consumer.send_metadata_request([self._partition.topic])
                except ConnectionError as error:
                    logger.warning("Error communicating with broker %s to find the leader: %s", seed, error)
                    continue
            brokers = {each.node_id: BrokerEndPoint(each.node_id, each.host, each.port) for each in metadata.brokers}
            for topic in metadata.topics:
                for each in topic.partitions:
                    if each.partition_index == self._partition.partition and each.leader_id in brokers:
                        self._brokers = [brokers[node] for node in each.replica_nodes if node in brokers]
                        return brokers[each.leader_id]
        return None

    def read_offset(self, consumer: SimpleConsumer, which_time: int) -> int:
        """The first offset of the log (EARLIEST_TIME) or its end (LATEST_TIME). Raises ConnectionError, KafkaError."""
        return consumer.earliest_or_latest_offset(self._partition, which_time)

    def fetch(self, consumer: SimpleConsumer, offset: int) -> list[Record]:
        """Messages from ``offset`` on, possibly none. Raises ConnectionError, and the partition's error as ApiError."""
        request = FetchRequestBuilder().max_wait(MAX_WAIT_MS).min_bytes(1)
        response = consumer.fetch(request.add_fetch(*self._partition, offset, FETCH_BYTES).build())
        error = response.error(*self._partition)
        if error is not Errors.NONE:
            raise error.exception()
        # A compressed message arrives as a whole, so some messages may lie before the requested offset.
        return [record for record in response.message_set(*self._partition) if record.offset >= offset]

    def find_new_leader(self, old_leader: BrokerEndPoint) -> BrokerEndPoint:
        """The leader after a failure. Raises KafkaError if there is none.

        If the leader is still the same, wait once for the cluster to notice the failure; after that, accept it.
        """
        for attempt in range(RETRIES):
            leader = self.find_leader()
            if leader is not None and (leader != old_leader or attempt > 0):
                return leader
            self._time.sleep(self._retry_backoff_ms)
        raise KafkaError(f"Unable to find new leader of {self._partition} after broker failure")

    def _must_find_leader(self) -> BrokerEndPoint:
        leader = self.find_leader()
        if leader is None:
            raise KafkaError(f"Can't find the leader of {self._partition} from {self._brokers}")
        return leader

    def _consumer(self, broker: BrokerEndPoint) -> SimpleConsumer:
        return SimpleConsumer(broker.host, broker.port, SO_TIMEOUT_MS, BUFFER_BYTES, self._client_name)
