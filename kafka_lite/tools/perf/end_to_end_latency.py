"""``kafka-lite end-to-end-latency``: latency from producer to consumer, one message at a time.

Kafka 0.10.2: core/.../tools/EndToEndLatency.scala · book 1.4.1
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

from kafka_lite.common.properties import load_properties
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer import KafkaConsumer
from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.tools.common.logging_config import configure_logging
from kafka_lite.tools.common.tool_errors import ToolError, reports_errors
from kafka_lite.tools.perf.performance_stats import percentiles

NAME = "end-to-end-latency"
SUMMARY = "measure the latency from producer to consumer"

TIMEOUT_MS = 60_000
REPORT_EVERY = 1000
NS_PER_MS = 1_000_000
LETTERS = bytes(range(65, 91))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of kafka.tools.EndToEndLatency, which has no script of its own in Kafka 0.10.2."""
    parser.add_argument("broker_list", help="brokers to connect to, separated by commas")
    parser.add_argument("topic", help="the topic; no other producer may write to it during the test")
    parser.add_argument("num_messages", type=int, help="number of messages to send")
    parser.add_argument("producer_acks", choices=["1", "all"], help="acks to wait for before reading the message")
    parser.add_argument("message_size_bytes", type=int, help="size of a message")
    parser.add_argument("properties_file", type=Path, nargs="?", help="file of configs for both clients")


@reports_errors
def run(options: argparse.Namespace) -> int:
    """Send and read messages one by one; returns 1 if a message read differs from the one sent."""
    configure_logging(default_level="WARN")
    if options.num_messages < 1 or options.message_size_bytes < 1:
        raise ToolError("num_messages and message_size_bytes should be greater than zero")
    properties = load_properties(options.properties_file) if options.properties_file is not None else {}
    common = properties | {"bootstrap.servers": options.broker_list}
    # No batching on the way: no linger in the producer, no fetch wait on the broker.
    sending = common | {"linger.ms": "0", "acks": options.producer_acks}
    defaults = {"allow.auto.create.topics": "false"}
    at_once = {"enable.auto.commit": "false", "auto.offset.reset": "latest", "fetch.max.wait.ms": "0"}
    reading = defaults | common | at_once
    with KafkaConsumer(reading) as consumer, KafkaProducer(sending) as producer:
        go_to_end(consumer, options.topic)
        latencies_ns = measure(consumer, producer, options)
    average_ms = sum(latencies_ns) / len(latencies_ns) / NS_PER_MS
    print(f"Avg latency: {average_ms:.4f} ms\n")
    p50, p99, p999 = percentiles([each // NS_PER_MS for each in latencies_ns], (0.5, 0.99, 0.999))
    print(f"Percentiles: 50th = {p50}, 99th = {p99}, 99.9th = {p999}")
    return 0


def go_to_end(consumer: KafkaConsumer, topic: str) -> None:
    """Seek to the ends of all partitions, looked up now so that no message is missed. Raises ToolError."""
    partitions = [TopicPartition(topic, info.partition) for info in consumer.partitions_for(topic)]
    if not partitions:
        raise ToolError(f"there is no topic {topic}: create it with `kafka-lite topics --create --topic {topic} …`")
    consumer.assign(partitions)
    consumer.seek_to_end(partitions)
    for partition in partitions:
        consumer.position(partition)


def measure(consumer: KafkaConsumer, producer: KafkaProducer, options: argparse.Namespace) -> list[int]:
    """Each message's latency in ns, from just before the send until it has been read. Raises ToolError."""
    chance = random.Random(0)
    latencies = []
    for number in range(options.num_messages):
        message = bytes(chance.choices(LETTERS, k=options.message_size_bytes))
        began_ns = time.perf_counter_ns()
        producer.send(ProducerRecord(options.topic, message)).get(TIMEOUT_MS)
        read = [record.value for record in consumer.poll(TIMEOUT_MS)]
        latencies.append(time.perf_counter_ns() - began_ns)
        if not read:
            raise ToolError(f"poll() timed out before finding a result (timeout:[{TIMEOUT_MS}])")
        if read != [message]:
            raise ToolError(
                f"read {len(read)} messages that differ from the one sent. "
                f"Is another producer writing to {options.topic}?"
            )
        if number % REPORT_EVERY == 0:
            print(f"{number}\t{latencies[-1] / NS_PER_MS}", flush=True)
    return latencies
