"""A compacted topic that all workers read to its end.

Kafka 0.10.2: connect/runtime/.../connect/util/KafkaBasedLog.java · book 8.3.6
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.connect_clients import ConnectClients
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord, RecordMetadata

logger = logging.getLogger(__name__)

CREATE_TOPIC_TIMEOUT_MS = 30_000
LOOK_UP_INTERVAL_MS = 1000
RETRY_BACKOFF_MS = 1000
FOREVER_MS = 0x7FFFFFFF

SendCallback = Callable[[RecordMetadata | None, Exception | None], None]
PRODUCER_CONFIGS: Mapping[str, object] = {
    "acks": "all",
    "max.in.flight.requests.per.connection": 1,  # a retry must not change the order
    "enable.idempotence": "false",  # brokers of the book's version do not know it
}
CONSUMER_CONFIGS: Mapping[str, object] = {"auto.offset.reset": "earliest", "enable.auto.commit": "false"}


class KafkaBasedLog:
    """Calls ``consumed`` with every record of the topic, from its beginning: first within ``start``, then in a thread.

    ::

        send ─▶ producer ─▶ topic ─▶ consumer ─▶ consumed         (what is sent counts once it has been read back)
        read_to_end ─▶ flush, wake the thread up ─▶ the ends of all partitions ─▶ read up to them ─▶ future

    Records may be written by other workers meanwhile: ``read_to_end`` reads what was there when it asked for the ends.

    A consumer of its own asks for them. On the connection of the other one that request would wait for the end of a
    fetch, ``fetch.max.wait.ms``, since a broker serves one request of a connection at a time. (0.10.2 waits.)
    """

    def __init__(
        self,
        topic: str,
        producer_configs: Mapping[str, object],
        consumer_configs: Mapping[str, object],
        consumed: Callable[[ConsumerRecord], None],
        *,
        clients: ConnectClients | None = None,
        time: Time = SYSTEM_TIME,
        prepare: Callable[[], None] | None = None,
    ) -> None:
        """Keys and values are bytes. ``prepare`` is called first within ``start``: it creates or checks the topic."""
        self.topic = topic
        self._producer_configs = {**producer_configs, **PRODUCER_CONFIGS}
        self._consumer_configs = {**consumer_configs, **CONSUMER_CONFIGS}
        self._consumed = consumed
        self._clients = clients or ConnectClients(time)
        self._time = time
        self._prepare = prepare
        self.partition_count = 0
        """Of the topic, once the log is started."""
        self._lock = threading.Lock()
        self._waiting: list[Future[None]] = []
        self._producer: KafkaProducer
        self._consumer: KafkaConsumer
        self._ends: KafkaConsumer
        self._open: list[KafkaProducer | KafkaConsumer] = []
        self._thread: _WorkThread | None = None

    def start(self) -> None:
        """Read the topic to its end, then follow it. Raises ConnectError if the topic cannot be used."""
        logger.info("Starting KafkaBasedLog with topic %s", self.topic)
        if self._prepare is not None:
            self._prepare()
        self._producer = self._clients.producer(self._producer_configs)
        self._open.append(self._producer)
        self._consumer = self._clients.consumer(self._consumer_configs)
        self._open.append(self._consumer)
        self._ends = self._clients.consumer(self._consumer_configs)
        self._open.append(self._ends)
        partitions = self._look_up_partitions()
        self.partition_count = len(partitions)
        self._consumer.assign(partitions)
        self._consumer.seek_to_beginning(partitions)
        self._read_to_log_end()
        self._thread = _WorkThread(self, self.topic)
        self._thread.start()
        logger.info("Started KafkaBasedLog for topic %s", self.topic)

    def _look_up_partitions(self) -> list[TopicPartition]:
        """Wait for the topic. Asking for it makes the broker create it, if that is allowed."""
        deadline_ms = self._time.hi_res_ms() + CREATE_TOPIC_TIMEOUT_MS
        while True:
            try:
                found = self._consumer.partitions_for(self.topic)
            except KafkaError as error:
                logger.warning("Topic %s: %s", self.topic, error)
                found = ()
            if found:
                break
            if self._time.hi_res_ms() >= deadline_ms:
                raise ConnectError(
                    f"Could not look up partition metadata for topic {self.topic} in allotted period. This could "
                    "indicate a connectivity issue, unavailable topic partitions, or if this is your first use of the "
                    "topic it may have taken too long to create."
                )
            self._time.sleep(LOOK_UP_INTERVAL_MS)
        return [TopicPartition(self.topic, info.partition) for info in found]

    def stop(self) -> None:
        """End the thread, and close the clients. Calls that still wait for the end of the log fail."""
        logger.info("Stopping KafkaBasedLog for topic %s", self.topic)
        if self._thread is not None:
            self._thread.shutdown()
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for future in waiting:
            _complete(future, ConnectError(f"The log of topic {self.topic} was stopped"))
        for client in self._open:
            try:
                client.close()
            except KafkaError:
                logger.exception("Failed to stop a client of topic %s", self.topic)

    def send(self, key: bytes | None, value: bytes | None, callback: SendCallback | None = None) -> None:
        """Write a record. Raises KafkaError if it cannot be queued; the callback gets later errors."""
        self._producer.send(ProducerRecord(self.topic, value, key), callback)

    def flush(self) -> None:
        """Wait until everything that was sent is acknowledged, or has failed."""
        self._producer.flush()

    def read_to_end(self) -> Future[None]:
        """Flush, and read to the current end of the log. The future is completed by the thread that reads."""
        self._producer.flush()
        future: Future[None] = Future()
        with self._lock:
            self._waiting.append(future)
        self._consumer.wakeup()
        return future

    def work(self) -> None:
        """One turn of the thread: serve those who wait for the end, then wait for records until woken up."""
        with self._lock:
            waiting = list(self._waiting)
        try:
            if waiting:
                self._read_to_log_end()
                with self._lock:
                    del self._waiting[: len(waiting)]  # others may have come meanwhile: they need another look
                for future in waiting:
                    _complete(future)
            self._poll(FOREVER_MS)
        except WakeupError:
            pass  # somebody waits for the end, or the log is to be stopped: the next turn sees which

    def wake_up(self) -> None:
        """Make ``work`` return soon."""
        self._consumer.wakeup()

    def _read_to_log_end(self) -> None:
        for partition, end in self._ends.end_offsets(self._consumer.assignment).items():
            while self._consumer.position(partition) < end:
                self._poll(FOREVER_MS)

    def _poll(self, timeout_ms: float) -> None:
        for record in self._consumer.poll(timeout_ms):
            try:
                self._consumed(record)
            except Exception:
                logger.exception("Topic %s: the record at offset %d is ignored", self.topic, record.offset)


class _WorkThread(ShutdownableThread):
    def __init__(self, log: KafkaBasedLog, topic: str) -> None:
        super().__init__(f"KafkaBasedLog Work Thread - {topic}")
        self._log = log

    def do_work(self) -> None:
        """Read on. An error of the cluster is temporary, or the user sees it again and again."""
        try:
            self._log.work()
        except KafkaError:
            logger.exception("%s: error polling", self.name)
            self.pause(RETRY_BACKOFF_MS)

    def wake_up(self) -> None:
        self._log.wake_up()


def _complete(future: Future[None], error: Exception | None = None) -> None:
    with suppress(InvalidStateError):  # cancelled by the caller
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)
