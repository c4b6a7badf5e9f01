"""Runs in a Spark task: reads one offset range into Arrow record batches.

Spark 4.2: connector/kafka-0-10-sql/.../KafkaBatchPartitionReader.scala · book 4.1.5
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql.datasource import InputPartition

from kafka_lite.security.channel_builders import client_channel_builder
from kafka_lite.spark.cluster_client import ClusterClient
from kafka_lite.spark.options import ReadOptions
from kafka_lite.spark.reading.arrow_decoder import ArrowDecoder
from kafka_lite.spark.reading.data_loss import data_loss_reporter
from kafka_lite.spark.reading.partition_fetcher import PartitionFetcher
from kafka_lite.spark.reading.planner import OffsetRange


@dataclass
class KafkaInputPartition(InputPartition):
    """The input that the driver sends to a task."""

    offset_range: OffsetRange


def open_client(options: ReadOptions, role: str) -> ClusterClient:
    """A client of the cluster for the driver or a task (``role``), distinguishable in the broker's logs.

    The client id is formed as in Spark's own source: it contains the group id, although no group is joined. Raises
    ConfigError for keys and certificates that cannot be read on this machine.
    """
    consumer = options.consumer
    group_id = consumer["group.id"] or f"{options.group_id_prefix or 'spark-kafka-source'}-{uuid.uuid4()}-{role}"
    client_id = consumer["client.id"] or f"consumer-{group_id}"
    security = client_channel_builder(consumer, client_id)
    return ClusterClient(consumer["bootstrap.servers"], client_id, consumer["request.timeout.ms"], security)


def read_range(options: ReadOptions, offset_range: OffsetRange) -> Iterator[Any]:
    """Yield the records of a range as Arrow record batches, as they arrive."""
    decoder = ArrowDecoder(offset_range.topic_partition, options.include_headers)
    with open_client(options, "executor") as client:
        fetcher = PartitionFetcher(client, options, offset_range, data_loss_reporter(options.fail_on_data_loss))
        for fetched in fetcher.fetch():
            yield from decoder.decode(fetched.batches, fetched.from_offset, offset_range.until_offset)
