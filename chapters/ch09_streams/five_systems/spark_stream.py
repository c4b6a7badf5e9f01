"""Word count on Spark Structured Streaming until standard input ends: ``BOOTSTRAP FOLDER``. Book 9.3."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from kafka_lite.spark.session import SHORT_LIVED_CHECKPOINTS, session


def word_counts(spark: SparkSession, bootstrap_servers: str) -> DataFrame:
    """Each word of the topic ``text`` with its count."""
    text = (
        spark.readStream.format("kafka_lite")
        .option("kafka.bootstrap.servers", bootstrap_servers)
        .option("subscribe", "text")
        .option("startingOffsets", "earliest")
        .load()
    )
    words = text.select(F.explode(F.split(F.lower(F.col("value").cast("string")), " ")).alias("word"))
    return words.groupBy("word").count()


def as_records(counts: DataFrame) -> DataFrame:
    """For the topic: the count as Kafka's LongSerializer writes it, in 8 bytes."""
    eight_bytes = F.unhex(F.lpad(F.hex("count"), 16, "0"))
    return counts.select(F.col("word").cast("binary").alias("key"), eight_bytes.alias("value"))


def main(arguments: Sequence[str]) -> None:
    """Run it."""
    bootstrap_servers, folder = arguments
    settings = {**SHORT_LIVED_CHECKPOINTS, "spark.sql.shuffle.partitions": "2"}
    spark = session("word-count", master="local[2]", config=settings, log_file=Path(folder, "spark.log"))
    to_topic = {"kafka.bootstrap.servers": bootstrap_servers, "topic": "word-counts"}

    def write(counts: DataFrame, batch: int) -> None:  # noqa: ARG001
        counts.write.format("kafka_lite").mode("append").options(**to_topic).save()

    # A sink in Python takes rows that are appended, not updated ones: so each batch is written by itself.
    query = (
        as_records(word_counts(spark, bootstrap_servers))
        .writeStream.foreachBatch(write)
        .outputMode("update")
        .option("checkpointLocation", str(Path(folder, "checkpoint")))
        .start()
    )
    threading.Thread(target=stop_at_end_of_input, args=[query], daemon=True).start()
    query.awaitTermination()
    spark.stop()


def stop_at_end_of_input(query: StreamingQuery) -> None:
    """Stop the query when standard input ends, but not in the middle of a batch."""
    sys.stdin.read()
    query.processAllAvailable()
    query.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
