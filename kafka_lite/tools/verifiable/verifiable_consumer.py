"""``kafka-lite verifiable-consumer``: consumes in a group and reports records, commits and rebalances as JSON.

Kafka 0.10.2: tools/.../tools/VerifiableConsumer.java · book 1.4.3
"""

from __future__ import annotations

import argparse
import signal
from collections.abc import Collection, Mapping
from pathlib import Path

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.properties import load_properties
from kafka_lite.common.serialization import StringDeserializer
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.consumer.consumer_rebalance_listener import ConsumerRebalanceListener
from kafka_lite.consumer.consumer_record import ConsumerRecord, ConsumerRecords
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.tools.common.logging_config import configure_logging
from kafka_lite.tools.common.tool_errors import reports_errors
from kafka_lite.tools.verifiable.json_events import JsonEvents

NAME = "verifiable-consumer"
SUMMARY = "consume in a group and report every event as JSON"

POLL_MS = 60_000.0
Offsets = Mapping[TopicPartition, OffsetAndMetadata]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of kafka-verifiable-consumer.sh."""
    parser.add_argument(
        "--bootstrap-server",
        "--broker-list",
        required=True,
        metavar="HOST:PORT",
        help="brokers to connect to, separated by commas",
    )
    parser.add_argument("--topic", required=True, help="the topic to read")
    parser.add_argument("--group-id", required=True, metavar="GROUP", help="the consumer group to join")
    parser.add_argument(
        "--group-instance-id", metavar="NAME", help="join as a static member with this group.instance.id"
    )
    parser.add_argument(
        "--max-messages",
        type=int,
        default=-1,
        metavar="N",
        help="number of messages to read; -1 (the default): until stopped",
    )
    parser.add_argument(
        "--session-timeout",
        type=int,
        default=30_000,
        metavar="MS",
        help="ms without a heartbeat after which the group drops this member (default: 30000)",
    )
    parser.add_argument("--verbose", action="store_true", help="report each record")
    parser.add_argument("--enable-autocommit", action="store_true", help="commit offsets automatically")
    parser.add_argument(
        "--reset-policy", default="earliest", choices=("earliest", "latest", "none"),
        help="where to start without a committed offset (default: earliest)",
    )  # fmt: skip
    parser.add_argument(
        "--assignment-strategy",
        default="range",
        metavar="NAME",
        help="range (the default), roundrobin, sticky, cooperative-sticky, or a class",
    )
    parser.add_argument(
        "--consumer.config", "--command-config", dest="consumer_config", type=Path, metavar="FILE",
        help="file of consumer configs; the flags override them",
    )  # fmt: skip


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Consume up to the limit, or until SIGTERM or Ctrl-C."""
    configure_logging(default_level="WARN")
    text = StringDeserializer()
    consumer = KafkaConsumer(consumer_configs(options), text, text)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: consumer.wakeup())
    VerifiableConsumer(
        consumer,
        options.topic,
        max_messages=options.max_messages,
        auto_commit=options.enable_autocommit,
        verbose=options.verbose,
    ).run()
    return 0


def consumer_configs(options: argparse.Namespace) -> dict[str, object]:
    """The consumer's configuration. Raises OSError if the file cannot be read."""
    configs: dict[str, object] = {"allow.auto.create.topics": "false"}
    if options.consumer_config is not None:
        configs |= load_properties(options.consumer_config)
    if options.group_instance_id is not None:
        configs["group.instance.id"] = options.group_instance_id
    return configs | {
        "bootstrap.servers": options.bootstrap_server,
        "group.id": options.group_id,
        "enable.auto.commit": options.enable_autocommit,
        "auto.offset.reset": options.reset_policy,
        "session.timeout.ms": options.session_timeout,
        "partition.assignment.strategy": options.assignment_strategy,
    }


class VerifiableConsumer(ConsumerRebalanceListener):
    """Prints one event per line::

    {"timestamp":…,"name":"startup_complete"}
    {"timestamp":…,"name":"partitions_assigned","partitions":[{"topic":"t","partition":0}]}
    {"timestamp":…,"name":"records_consumed","count":3,"partitions":
        [{"topic":"t","partition":0,"count":3,"minOffset":0,"maxOffset":2}]}
    {"timestamp":…,"name":"offsets_committed","offsets":[{"topic":"t","partition":0,"offset":3}],"success":true}
    {"timestamp":…,"name":"partitions_revoked","partitions":[{"topic":"t","partition":0}]}
    {"timestamp":…,"name":"shutdown_complete"}
    """

    def __init__(
        self,
        consumer: KafkaConsumer,
        topic: str,
        *,
        max_messages: int = -1,
        auto_commit: bool = False,
        verbose: bool = False,
        events: JsonEvents | None = None,
    ) -> None:
        self._consumer = consumer
        self._topic = topic
        self._max_messages = max_messages
        self._auto_commit = auto_commit
        self._verbose = verbose
        self._events = events or JsonEvents()
        self.consumed = 0

    def run(self) -> None:
        """Consume up to the limit, or until ``wakeup`` is called."""
        try:
            self._events.print("startup_complete")
            self._consumer.subscribe([self._topic], self)
            while not self._is_finished:
                offsets = self._received(self._consumer.poll(POLL_MS))
                if offsets and not self._auto_commit:
                    self._commit(offsets)
        except WakeupError:
            pass  # the normal end of a run without limit
        finally:
            self._consumer.close()
            self._events.print("shutdown_complete")

    @property
    def _is_finished(self) -> bool:
        return 0 <= self._max_messages <= self.consumed

    def on_partitions_assigned(self, partitions: Collection[TopicPartition]) -> None:
        """Print the assigned partitions."""
        self._events.print("partitions_assigned", partitions=[_json(each) for each in sorted(partitions)])

    def on_partitions_revoked(self, partitions: Collection[TopicPartition]) -> None:
        """Print the revoked partitions."""
        self._events.print("partitions_revoked", partitions=[_json(each) for each in sorted(partitions)])

    def _received(self, records: ConsumerRecords) -> dict[TopicPartition, OffsetAndMetadata]:
        """Print the records and return the offsets to commit. Records beyond ``max_messages`` are ignored."""
        offsets: dict[TopicPartition, OffsetAndMetadata] = {}
        summaries: list[dict[str, object]] = []
        for partition in sorted(records.partitions):
            taken = records.records(partition)
            if self._max_messages >= 0:
                taken = taken[: self._max_messages - self.consumed]
            if not taken:
                continue
            first, last = taken[0].offset, taken[-1].offset
            offsets[partition] = OffsetAndMetadata(last + 1)
            summaries.append({**_json(partition), "count": len(taken), "minOffset": first, "maxOffset": last})
            if self._verbose:
                for record in taken:
                    self._tell_of(record)
            self.consumed += len(taken)
        if summaries:
            self._events.print("records_consumed", count=records.count, partitions=summaries)
        return offsets

    def _tell_of(self, record: ConsumerRecord) -> None:
        self._events.print(
            "record_data", key=record.key, value=record.value, topic=record.topic, partition=record.partition,
            offset=record.offset,
        )  # fmt: skip

    def _commit(self, offsets: Offsets) -> None:
        """Commit and print the result. If interrupted by a wakeup, commit again: consumed records must be committed."""
        try:
            self._consumer.commit_sync(offsets)
        except WakeupError:
            self._commit(offsets)
            raise
        except KafkaError as error:
            self._committed(offsets, error)
        else:
            self._committed(offsets, None)

    def _committed(self, offsets: Offsets, error: Exception | None) -> None:
        committed = [{**_json(partition), "offset": each.offset} for partition, each in sorted(offsets.items())]
        said = {} if error is None else {"error": str(error)}
        self._events.print("offsets_committed", offsets=committed, **said, success=error is None)


def _json(partition: TopicPartition) -> dict[str, object]:
    return {"topic": partition.topic, "partition": partition.partition}
