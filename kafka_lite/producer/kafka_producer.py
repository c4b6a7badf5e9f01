"""The new producer: accepts records from any thread, and sends them in batches from its own.

Kafka 0.10.2: clients/.../producer/KafkaProducer.java · book 2.1.1, 1.3.2
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from kafka_lite.clients.api_versions import ApiVersions
from kafka_lite.clients.client_utils import new_network_client, parse_and_validate_addresses
from kafka_lite.clients.cluster import Cluster, PartitionInfo
from kafka_lite.clients.metadata import Metadata, invalid_topic
from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.new_instance import new_instance
from kafka_lite.common.serialization import ByteArraySerializer, SerializationError, Serializer, ensure_serializer
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metric import AttributeValue
from kafka_lite.metrics.metric_name import MetricName
from kafka_lite.metrics.sensor import KafkaMetric, KafkaMetricName
from kafka_lite.producer.buffer_pool import (
    BlockingInCallbackError,
    BufferExhaustedError,
    BufferPool,
    ProducerClosedError,
)
from kafka_lite.producer.future_record_metadata import FutureRecordMetadata, ProduceRequestResult
from kafka_lite.producer.partitioner import DefaultPartitioner, Partitioner, checked, partition_for_key
from kafka_lite.producer.producer_batch import BatchListener, Callback
from kafka_lite.producer.producer_config import ProducerConfig
from kafka_lite.producer.producer_interceptors import ProducerInterceptor, ProducerInterceptors
from kafka_lite.producer.producer_metrics import ProducerMetrics
from kafka_lite.producer.producer_record import UNKNOWN_OFFSET, ProducerRecord, RecordMetadata
from kafka_lite.producer.record_accumulator import RecordAccumulator
from kafka_lite.producer.records_buffer import RecordsBuffer
from kafka_lite.producer.sender import Sender
from kafka_lite.producer.transaction_errors import IllegalTransactionStateError
from kafka_lite.producer.transaction_manager import TransactionManager
from kafka_lite.producer.transactional_request_result import TransactionalRequestResult
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.record import CURRENT_MAGIC, NO_TIMESTAMP
from kafka_lite.security.channel_builders import client_channel_builder

if TYPE_CHECKING:  # a producer without offsets to commit need not load the consumer
    from kafka_lite.consumer.consumer_group_metadata import ConsumerGroupMetadata
    from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata

logger = logging.getLogger(__name__)


_forks = 0
"""How many forks there are between the process that imported this module and the current one."""


class KafkaProducer:
    """Sends records to Kafka. Thread-safe: one producer shared by all threads is faster than one per thread.

    ::

        with KafkaProducer({"bootstrap.servers": "localhost:9092"}) as producer:
            future = producer.send(ProducerRecord("events", b"hello"))     # returns at once
            print(future.get())                                            # waits: where the record lies
            producer.send(ProducerRecord("events", b"you"), lambda metadata, error: ...)   # is called when it is known

    What ``send`` does in the caller's thread, and the sender in its own::

        send: interceptors ─▶ wait for metadata ─▶ serialize ─▶ partition ─▶ RecordAccumulator.append
                                                                                    │ wake up when a batch is full
        Sender:                                     ready ─▶ drain ─▶ NetworkClient ─▶ callbacks

    With a ``transactional.id``, records are sent in transactions. Consumers with ``isolation.level=read_committed`` see
    all records of a transaction or none::

        producer.init_transactions()
        while records := consumer.poll(1000):
            producer.begin_transaction()
            ...                                                            # send
            producer.send_offsets_to_transaction(offsets, consumer.group_metadata())
            producer.commit_transaction()

    The configuration keys and their defaults are in :mod:`kafka_lite.producer.producer_config`.
    """

    def __init__(
        self,
        configs: Mapping[str, object],
        key_serializer: Serializer[Any] | None = None,
        value_serializer: Serializer[Any] | None = None,
        *,
        time: Time = SYSTEM_TIME,
    ) -> None:
        """Raises ConfigError. Does not connect yet."""
        self.config = config = ProducerConfig(configs)
        self._time = time
        self._metrics = ProducerMetrics(config, time)
        ensure_serializer(key_serializer, Serializer, "key_serializer")
        ensure_serializer(value_serializer, Serializer, "value_serializer")
        self._key_serializer = key_serializer or self._serializer("key")
        self._value_serializer = value_serializer or self._serializer("value")
        self._partitioner = checked(self._configured("partitioner.class", Partitioner, config["partitioner.class"]))
        self._interceptors = ProducerInterceptors([
            self._configured("interceptor.classes", ProducerInterceptor, name) for name in config["interceptor.classes"]
        ])  # fmt: skip
        self._max_block_ms = config["max.block.ms"]
        self._max_record_size = min(config["max.request.size"], config["buffer.memory"])
        self._sends_plainly = (
            type(self._partitioner) is DefaultPartitioner
            and not self._interceptors
            and config["batch.size"] <= self._max_record_size
        )
        """Whether all that matters of a record with a key are its bytes: the key's choose the partition, and what fits
        into a batch is not too large."""
        self._compression = CompressionType.from_name(config["compression.type"])
        api_versions = ApiVersions()
        self._transactions = self._new_transaction_manager(api_versions)
        self._transactional = None if config.transactional_id is None else self._transactions
        self._metadata = Metadata(
            config["retry.backoff.ms"], config["metadata.max.age.ms"], topic_expiry_enabled=True, time=time
        )
        addresses = parse_and_validate_addresses(config["bootstrap.servers"])
        self._metadata.update(Cluster.bootstrap(addresses), time.hi_res_ms())
        self._usual_partitions: tuple[Cluster, dict[str, tuple[TopicPartition, ...]]] = (self._metadata.fetch(), {})
        """The cluster, and the partitions of the topics that ``send_bytes`` has sent to since it is known."""
        self._accumulator = self._new_accumulator(api_versions)
        self._sender = self._new_sender(api_versions)
        self._accumulator.taken_by(self._sender)
        self._closed = False
        self._forks_before = _forks
        self._sender.start()
        logger.debug("Kafka producer %s started", config["client.id"])

    # ── sending ───────────────────────────────────────────────────────────────────────────────────────────────────

    def send(self, record: ProducerRecord, callback: Callback | None = None) -> FutureRecordMetadata:
        """Queue a record to be sent. Returns at once unless metadata or memory is missing.

        The outcome is passed exactly once to the future and to ``callback(metadata, error)``, usually in the producer's
        thread. A problem with the *record* (too large, no such partition, no memory or metadata within
        ``max.block.ms``) is an outcome, too. Raises SerializationError, ProducerClosedError on a closed producer,
        BlockingInCallbackError if a callback sends a record that would have to wait, and TypeError for an argument that
        is no record or no callback. With a ``transactional.id``, raises IllegalTransactionStateError outside of a
        transaction, and TransactionError or ProducerFencedError after an error.
        """
        if self._closed or self._forks_before != _forks:
            raise self._closed_error()
        if callback is not None:
            _ensure_record(record)  # send("topic", value) is another library's
            _ensure_callable(callback)
        if self._transactional is not None:
            self._transactional.ensure_may_send()
        if self._interceptors:
            record = self._interceptors.on_send(record)
            callback = self._intercepted(callback)
        try:
            return self._do_send(record, callback)
        except (ApiError, BufferExhaustedError) as error:
            return self._failed(record, callback, error)
        except UnicodeEncodeError as error:
            unfit = SerializationError(f"{record.topic}: the record has text that cannot be encoded: {error}")
            self._refused(record, unfit)
            raise unfit from error
        except Exception as error:
            _ensure_record(record)
            self._refused(record, error)
            raise

    def _do_send(self, record: ProducerRecord, callback: Callback | None) -> FutureRecordMetadata:
        topic, partition = record.topic, record.partition
        self._metadata.add(topic)
        cluster, max_block_ms = self._metadata.fetch(), self._max_block_ms
        count = cluster.partition_count_for_topic(topic)
        if count is None or (partition is not None and partition >= count):
            deadline_ms = self._time.hi_res_ms() + max_block_ms
            cluster = self._await_partition(topic, partition, count, deadline_ms)
            self._metrics.waited_for_metadata(deadline_ms - max_block_ms)
            max_block_ms = max(0.0, deadline_ms - self._time.hi_res_ms())
        key = self._key_serializer.serialize(topic, record.key)
        value = self._value_serializer.serialize(topic, record.value)
        size = RecordsBuffer.estimate_size(CURRENT_MAGIC, key, value, record.headers)
        if size > self._max_record_size:
            raise self._too_large(size)
        timestamp = self._time.milliseconds() if record.timestamp is None else record.timestamp
        fields, result = (timestamp, key, value, record.headers, callback), None
        if partition is None:
            partition = self._partitioner.partition(record, key, cluster)
            topic_partition = TopicPartition(topic, partition)
            result = self._accumulator.append_to_last_batch(topic_partition, fields)
            if result is None and self._partitioner.on_new_batch(topic, cluster, partition):
                partition = self._partitioner.partition(record, key, cluster)
        if result is None:
            result = self._accumulator.append(TopicPartition(topic, partition), fields, max_block_ms)
        if self._transactional is not None:  # the sender takes no batch of a partition before this
            self._transactional.maybe_add_partition(TopicPartition(topic, partition))
        if result.batch_is_full or result.new_batch_created:
            self._sender.wake_up()
        return result.future

    def send_bytes(
        self,
        topic: str,
        key: Any,
        value: Any,
        partition: int | None,
        timestamp: int,
        listener: BatchListener,
    ) -> None:
        """Queue a record that is serialized already, without a future: for Streams, in less than half of the time.

        ``listener`` learns the outcome, of all its records in a batch at once. Most records fit into the last batch of
        their partition; the others go through ``send``, which refuses what is not bytes. Raises what that raises.
        """
        usual = self._usual_partition(topic, key, value, partition)
        if usual is None or not self._accumulator.append_for(listener, usual, timestamp, key, value):
            record = ProducerRecord(topic, value, key, partition, timestamp)
            self.send(record, lambda metadata, error: _tell(listener, record, metadata, error))
        elif self._transactional is not None:
            self._transactional.maybe_add_partition(usual)

    def _usual_partition(self, topic: str, key: Any, value: Any, partition: int | None) -> TopicPartition | None:
        """The partition of a record that needs no more than to be appended; None if ``send`` has to look at it."""
        if type(value) is not bytes or type(key) is not bytes or not self._sends_plainly:
            return None
        if self._closed or self._forks_before != _forks:
            return None
        cluster = self._metadata.fetch()
        if cluster is not self._usual_partitions[0]:
            self._usual_partitions = cluster, {}
        partitions = self._usual_partitions[1].get(topic) or self._note_usual_partitions(topic)
        if self._transactional is not None:
            self._transactional.ensure_may_send()
        if partition is None:
            return partitions[partition_for_key(key, len(partitions))] if partitions else None
        return partitions[partition] if 0 <= partition < len(partitions) else None

    def _note_usual_partitions(self, topic: str) -> tuple[TopicPartition, ...]:
        """Look a topic up once per cluster, which also keeps it from expiring; nothing if it is not known."""
        cluster, topics = self._usual_partitions
        count = cluster.partition_count_for_topic(topic) or 0
        partitions = tuple(TopicPartition(topic, number) for number in range(count))
        if partitions:
            self._metadata.add(topic)
            topics[topic] = partitions
        return partitions

    def _await_partition(self, topic: str, partition: int | None, count: int | None, deadline_ms: float) -> Cluster:
        """A cluster with the topic, and with the partition if one was named; waits for metadata until the deadline.

        ``count``: how many partitions the topic is known to have; None for an unknown topic.
        """
        if threading.current_thread() is self._sender:
            raise BlockingInCallbackError(f"metadata of topic {topic}")
        while True:
            self._metadata.add(topic)  # the wait may be longer than the expiry of unused topics
            version = self._metadata.request_update()
            self._sender.wake_up()
            self._await_update(version, topic, partition, count, deadline_ms)
            cluster = self._metadata.fetch()
            if topic in cluster.unauthorized_topics:
                raise Errors.TOPIC_AUTHORIZATION_FAILED.exception(f"Not authorized to access topic {topic}")
            if topic in cluster.invalid_topics:
                raise invalid_topic(topic)
            count = cluster.partition_count_for_topic(topic)
            if count is not None and (partition is None or partition < count):
                return cluster

    def _await_update(
        self, version: int, topic: str, partition: int | None, count: int | None, deadline_ms: float
    ) -> None:
        try:
            self._metadata.await_update(version, max(0.0, deadline_ms - self._time.hi_res_ms()))
        except ApiError as error:
            if error.error is not Errors.REQUEST_TIMED_OUT:
                raise
            what = f"Topic {topic} not present in metadata"
            if count is not None:
                what = f"Partition {partition} of topic {topic} with partition count {count} is not present in metadata"
            why = self._metadata.why_timed_out()
            raise Errors.REQUEST_TIMED_OUT.exception(f"{what} after {self._max_block_ms:g} ms.{why}") from error

    def _too_large(self, size: int) -> ApiError:
        exceeded = next(limit for limit in ("max.request.size", "buffer.memory") if size > self.config[limit])
        return Errors.MESSAGE_TOO_LARGE.exception(
            f"The message is {size} bytes when serialized, which is larger than {exceeded}={self.config[exceeded]}"
        )

    def _intercepted(self, callback: Callback | None) -> Callback:
        def both(metadata: RecordMetadata | None, error: Exception | None) -> None:
            self._interceptors.on_acknowledgement(metadata, error)
            if callback is not None:
                callback(metadata, error)

        return both

    def _refused(self, record: ProducerRecord, error: Exception) -> None:
        """Tell metrics and interceptors of a failure that is about to be raised to the caller."""
        if isinstance(error, KafkaError):
            self._metrics.sender.failed(record.topic, 1)
        if self._interceptors:
            self._interceptors.on_acknowledgement(None, error)

    def _failed(self, record: ProducerRecord, callback: Callback | None, error: Exception) -> FutureRecordMetadata:
        """Call the callback, and return a future that has failed."""
        self._metrics.sender.failed(record.topic, 1)
        logger.debug("Exception occurred during message send: %s", error)
        if self._transactions is not None:
            self._transactions.record_lost(error)
        partition = -1 if record.partition is None else record.partition
        result = ProduceRequestResult(TopicPartition(record.topic, partition))
        result.set(UNKNOWN_OFFSET, NO_TIMESTAMP, lambda _place: error)
        if callback is not None:
            try:
                callback(None, error)
            except Exception:
                logger.exception("Error executing user-provided callback on message")
        result.done()
        return FutureRecordMetadata(result, 0, NO_TIMESTAMP, -1, -1)

    # ── transactions ──────────────────────────────────────────────────────────────────────────────────────────────

    def init_transactions(self) -> None:
        """Get the producer id and epoch of the ``transactional.id``. To be called once, before any transaction.

        Afterwards, older producers with the same id are fenced, and what they left open is aborted. All transactional
        calls block for at most ``max.block.ms`` and then raise ApiError REQUEST_TIMED_OUT: the same call may be
        repeated, and continues to wait. They raise IllegalTransactionStateError in the wrong state,
        ProducerFencedError once a newer producer has the id, and TransactionError after another error, which says
        whether ``abort_transaction`` helps.
        """
        self._await(self._manager.initialize_transactions())

    def begin_transaction(self) -> None:
        """Begin a transaction: records sent from now on are part of it."""
        self._ensure_not_closed()
        self._manager.begin_transaction()

    def send_offsets_to_transaction(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata], group_metadata: ConsumerGroupMetadata
    ) -> None:
        """Commit a consumer's offsets when, and only if, the transaction commits.

        ``group_metadata`` is the consumer's ``group_metadata()``: a member that has lost its partitions to another
        one gets ApiError ILLEGAL_GENERATION or UNKNOWN_MEMBER_ID, and must abort the transaction.
        """
        self._ensure_not_closed()
        if offsets:
            self._await(self._manager.send_offsets_to_transaction(offsets, group_metadata))

    def commit_transaction(self) -> None:
        """Send all queued records, then commit. Returns once the coordinator has recorded the decision.

        Raises the error of a record that could not be sent: the transaction must be aborted.
        """
        self._await(self._manager.begin_commit())

    def abort_transaction(self) -> None:
        """Abort. Records that were not sent fail with TransactionAbortedError."""
        self._await(self._manager.begin_abort())

    def _await(self, call: TransactionalRequestResult) -> None:
        self._sender.wake_up()
        call.wait(self._max_block_ms, self._metadata.why_timed_out)

    @property
    def _manager(self) -> TransactionManager:
        """Raises ProducerClosedError, and IllegalTransactionStateError without idempotence."""
        self._ensure_not_closed()
        if self._transactions is None:
            raise IllegalTransactionStateError("Cannot use transactions without setting transactional.id")
        return self._transactions

    def _ensure_not_closed(self) -> None:
        if self._closed or self._is_in_fork:
            raise self._closed_error()
        if threading.current_thread() is self._sender:
            raise BlockingInCallbackError("a transaction")

    # ── flush, metrics, close ─────────────────────────────────────────────────────────────────────────────────────

    def flush(self, timeout_ms: float | None = None) -> bool:
        """Send all queued records, and wait until all records sent so far have completed; false after ``timeout_ms``.

        Raises BlockingInCallbackError in a callback, whose thread completes the records.
        """
        if self._is_in_fork:
            raise self._closed_error()
        begin_ms = self._time.hi_res_ms()
        self._accumulator.begin_flush()
        self._sender.wake_up()
        try:
            return self._accumulator.await_flush_completion(timeout_ms)
        finally:
            self._metrics.flushed(begin_ms)

    def metrics(self) -> dict[KafkaMetricName, KafkaMetric]:
        """All metrics by name. Reading ``value`` computes it."""
        return self._metrics.metrics.metrics

    def beans(self) -> dict[MetricName, dict[str, AttributeValue]]:
        """The metrics as Kafka's JMX shows them: ``kafka.producer:type=producer-metrics,client-id=…``."""
        self._metrics.metrics.collect()
        return self._metrics.jmx_reporter.beans()

    def partitions_for(self, topic: str) -> tuple[PartitionInfo, ...]:
        """The partitions of a topic. Raises ApiError REQUEST_TIMED_OUT if it is not known within ``max.block.ms``."""
        deadline_ms = self._time.hi_res_ms() + self._max_block_ms
        self._metadata.add(topic)
        cluster = self._metadata.fetch()
        if cluster.partition_count_for_topic(topic) is None:
            cluster = self._await_partition(topic, None, None, deadline_ms)
        return cluster.partitions_for_topic(topic)

    def close(self, timeout_ms: float | None = None) -> None:
        """Send all queued records, for at most ``timeout_ms``, then close. Records without an outcome by then fail.

        Within a callback nothing more can be sent, because the callback runs in the producer's thread: there the
        timeout is 0.
        """
        if self._is_in_fork:
            return  # connections and batches belong to the other process
        is_first, self._closed = not self._closed, True
        self._accumulator.close()
        if threading.current_thread() is self._sender:
            self._sender.force_close()
        else:
            self._sender.initiate_shutdown()
            self._sender.await_shutdown(None if timeout_ms is None else timeout_ms / 1000)
            if self._sender.is_alive():
                self._sender.force_close()
                self._sender.await_shutdown()
        if is_first:
            self._close_parts()

    def _close_parts(self) -> None:
        self._metrics.close()
        self._interceptors.close()
        for each in (self._key_serializer, self._value_serializer, self._partitioner):
            each.close()

    def _closed_error(self) -> ProducerClosedError:
        if self._is_in_fork:
            return ProducerClosedError(
                "This process was forked without the producer's thread: create a new producer after the fork"
            )
        return ProducerClosedError("Cannot send after the producer is closed: create another one")

    @property
    def _is_in_fork(self) -> bool:
        """Whether the process was forked: threads do not survive a fork, and locks may be held for ever."""
        return self._forks_before != _forks

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ── creating the parts ────────────────────────────────────────────────────────────────────────────────────────

    def _new_transaction_manager(self, api_versions: ApiVersions) -> TransactionManager | None:
        config = self.config
        if not config.idempotence:
            return None
        return TransactionManager(
            config.idempotence_is_explicit,
            transactional_id=config.transactional_id,
            transaction_timeout_ms=config["transaction.timeout.ms"],
            transaction_version=lambda: api_versions.finalized_level("transaction.version"),
        )

    def _new_accumulator(self, api_versions: ApiVersions) -> RecordAccumulator:
        config = self.config
        batch_size = max(1, config["batch.size"])
        pool = BufferPool(config["buffer.memory"], batch_size, self._time)
        self._metrics.measure_pool(pool)
        return RecordAccumulator(
            batch_size,
            self._compression,
            config["linger.ms"],
            config["retry.backoff.ms"],
            config["delivery.timeout.ms"],
            pool,
            max_usable_magic=lambda: api_versions.max_usable_produce_magic,
            transaction_manager=self._transactions,
            time=self._time,
        )

    def _new_sender(self, api_versions: ApiVersions) -> Sender:
        config = self.config
        in_flight = config["max.in.flight.requests.per.connection"]
        builder = client_channel_builder(config, config["client.id"], self._time)
        client = new_network_client(config, self._metadata, self._metrics, in_flight, self._time, api_versions, builder)
        self._metrics.sender.measure(client.in_flight_request_count, self._metadata)
        return Sender(
            f"kafka-producer-network-thread | {config['client.id']}",
            client,
            self._metadata,
            self._accumulator,
            acks=config.acks,
            retries=config["retries"],
            max_request_size_bytes=config["max.request.size"],
            request_timeout_ms=config["request.timeout.ms"],
            retry_backoff_ms=config["retry.backoff.ms"],
            delivery_timeout_ms=config["delivery.timeout.ms"],
            guarantee_message_order=in_flight == 1,
            api_versions=api_versions,
            compression=self._compression,
            transaction_manager=self._transactions,
            metrics=self._metrics.sender,
            time=self._time,
        )

    def _serializer(self, of: str) -> Any:
        name = self.config[f"{of}.serializer"]
        serializer = new_instance(f"{of}.serializer", Serializer, name) if name else ByteArraySerializer()
        serializer.configure(self.config.originals, is_key=of == "key")
        return serializer

    def _configured(self, key: str, kind: type[Any], name: str) -> Any:
        instance = new_instance(key, kind, name)
        instance.configure(self.config.originals)
        return instance


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_count_fork)


def _tell(
    listener: BatchListener, record: ProducerRecord, metadata: RecordMetadata | None, error: Exception | None
) -> None:
    """The callback of a record that is sent for a listener."""
    if metadata is not None:
        listener.on_stored(metadata.topic_partition, metadata.offset)
    elif error is not None:
        listener.on_failed(record, error)


def _ensure_callable(callback: object) -> None:
    """Check a callback now. Otherwise only the log would show the mistake, after the record is stored."""
    if not callable(callback):
        kind = type(callback).__name__
        raise TypeError(f"a callback is called as callback(metadata, error), but a {kind} is not callable")


def _ensure_record(record: object) -> None:
    """Raise a helpful TypeError for other arguments of ``send``, such as a topic and a value."""
    if not isinstance(record, ProducerRecord):
        kind = type(record).__name__
        raise TypeError(f"send takes a ProducerRecord, not a {kind}: ProducerRecord(topic, value)") from None
