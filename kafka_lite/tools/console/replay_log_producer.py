"""``kafka-lite replay-log-producer``: reads a topic from the beginning and sends its messages to another topic.

Kafka 0.10.2: core/.../tools/ReplayLogProducer.scala (ZKConsumerThread) · book 1.4.1
"""

from __future__ import annotations

import argparse
import logging
import threading
from collections.abc import Iterator
from itertools import count
from typing import Any

from kafka_lite.common.shutdownable_thread import ShutdownableThread
from kafka_lite.old_consumer.consumer_connector import ConsumerConnector
from kafka_lite.old_consumer.consumer_iterator import ConsumerTimeoutError
from kafka_lite.old_consumer.kafka_stream import KafkaStream
from kafka_lite.old_consumer.message_and_metadata import MessageAndMetadata
from kafka_lite.old_consumer.zookeeper_consumer_connector import Consumer
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord, RecordMetadata
from kafka_lite.tools.common.client_properties import parse_key_value_args
from kafka_lite.tools.common.logging_config import configure_logging
from kafka_lite.tools.common.stop_signals import SIGNAL_CHECK_S, StopRequested, StopSignals
from kafka_lite.tools.common.terminal import print_to_stderr
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.zookeeper.zookeeper_session import zookeeper_client
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups

logger = logging.getLogger(__name__)

NAME = "replay-log-producer"
SUMMARY = "copy the messages of a topic to another topic"

GROUP_ID = "replay-log-producer"
CONSUMER_TIMEOUT_MS = 10_000
"""After this long without a message, the topic is considered read to the end."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-replay-log-producer.sh."""
    parser.add_argument("--inputtopic", required=True, metavar="TOPIC", help="the topic to read")
    parser.add_argument("--outputtopic", required=True, metavar="TOPIC", help="the topic to send to")
    parser.add_argument(
        "--broker-list",
        "--bootstrap-server",
        required=True,
        metavar="HOST:PORT",
        help="brokers to send to, separated by commas",
    )
    parser.add_argument(
        "--zookeeper", default="127.0.0.1:2181", metavar="HOST:PORT",
        help="ZooKeeper of the brokers to read from (default: 127.0.0.1:2181)",
    )  # fmt: skip
    parser.add_argument(
        "--messages", type=int, default=-1, metavar="N", help="number of messages to send; -1 (the default): all"
    )
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="number of threads (default: 1)")
    parser.add_argument(
        "--reporting-interval",
        type=int,
        default=5000,
        metavar="N",
        help="report progress every N messages (default: 5000)",
    )
    parser.add_argument("--sync", action="store_true", help="wait for each message before sending the next")
    parser.add_argument(
        "--property", action="append", default=[], metavar="KEY=VALUE", help="a producer config; may be repeated"
    )


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Send until no message arrives for ten seconds or the limit is reached; returns 1 if some were not sent."""
    configure_logging(default_level="WARN")
    if options.threads < 1 or options.reporting_interval < 1:
        raise ToolError("--threads and --reporting-interval should be greater than zero")
    configs = {**parse_key_value_args("--property", options.property), "bootstrap.servers": options.broker_list}
    forget_group(options.zookeeper)
    with KafkaProducer(configs) as producer:
        replay = Replay(producer, options)
        with Consumer.create(consumer_configs(options.zookeeper)) as connector:
            exit_code = run_threads(connector, replay, options)
    print(f"Sent {replay.sent} messages")
    return exit_code or int(replay.failed > 0)


def consumer_configs(zookeeper_connect: str) -> dict[str, object]:
    """The configuration of an old consumer that reads the topic from the beginning."""
    return {
        "group.id": GROUP_ID,
        "zookeeper.connect": zookeeper_connect,
        "consumer.timeout.ms": CONSUMER_TIMEOUT_MS,
        "auto.offset.reset": "smallest",
        "fetch.message.max.bytes": 1024 * 1024,
        "socket.receive.buffer.bytes": 2 * 1024 * 1024,
    }


def forget_group(zookeeper_connect: str) -> None:
    """Delete the offsets of an earlier replay, so that this one starts at the beginning."""
    with zookeeper_client(zookeeper_connect) as zk_client:
        ConsumerGroups(zk_client).delete_group(GROUP_ID)


def run_threads(connector: ConsumerConnector, replay: Replay, options: argparse.Namespace) -> int:
    """Run one thread per stream; returns a signal's exit code, or 0."""
    streams = connector.create_message_streams({options.inputtopic: options.threads})[options.inputtopic]
    threads = [ZKConsumerThread(f"replay-{number}", stream, replay) for number, stream in enumerate(streams)]
    signals = StopSignals()
    signals.install()
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(SIGNAL_CHECK_S)
    except StopRequested as stop:
        connector.shutdown()  # this ends the streams
        return stop.exit_code
    finally:
        signals.disarm()
        for thread in threads:
            thread.shutdown()
    return 0


class Replay:
    """State shared by the threads: the producer and the message counts."""

    def __init__(self, producer: KafkaProducer, options: argparse.Namespace) -> None:
        self._producer = producer
        self._topic: str = options.outputtopic
        self._sync: bool = options.sync
        self._interval: int = options.reporting_interval
        self._tickets: Iterator[int] = count() if options.messages < 0 else iter(range(options.messages))
        self._lock = threading.Lock()
        self.sent = self.failed = 0

    def may_go_on(self) -> bool:
        """Whether to send one more message; must be called once per message."""
        with self._lock:
            return next(self._tickets, None) is not None

    def send(self, message: MessageAndMetadata[Any, Any]) -> None:
        """Forward a message, with its timestamp if it has one."""
        timestamp = message.timestamp if message.timestamp >= 0 else None
        record = ProducerRecord(self._topic, message.message, message.key, timestamp=timestamp)
        future = self._producer.send(record, self._completed)
        if self._sync:
            future.exception()

    def _completed(self, _metadata: RecordMetadata | None, error: Exception | None) -> None:
        with self._lock:
            if error is not None:
                self.failed += 1
                logger.error("Skipping this message: %s", error)
                return
            self.sent += 1
            if self.sent % self._interval == 0:
                print_to_stderr(f"Sent {self.sent} messages so far")


class ZKConsumerThread(ShutdownableThread):
    """Forwards the messages of one stream."""

    def __init__(self, name: str, stream: KafkaStream[Any, Any], replay: Replay) -> None:
        super().__init__(name)
        self._messages = iter(stream)
        self._replay = replay

    def do_work(self) -> None:
        """Forward one message; stop when the limit is reached or no more arrive."""
        try:
            if self._replay.may_go_on():
                self._replay.send(next(self._messages))
                return
        except (StopIteration, ConsumerTimeoutError):
            logger.debug("No message for %d ms", CONSUMER_TIMEOUT_MS)
        self.initiate_shutdown()
