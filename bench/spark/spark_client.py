"""``python -m bench.spark.spark_client FORMAT [JAR …]``: one Spark session that does what its standard input says.

Each line is a JSON object with the name of a task and its arguments; each gets a line of JSON with the seconds and the
processor time that it took, and what it found. The session, local[2], stays up for all of them, as a user's does.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from kafka_lite.spark.session import session

MASTER = "local[2]"
MEMORY = "1g"
SETTLING_S = 120.0


class SparkClient:
    """The tasks. Reading ones return what they saw, for comparison with what was written."""

    def __init__(self, spark: SparkSession, source: str) -> None:
        self._spark = spark
        self._format = source

    def count(self, bootstrap: str, topic: str) -> dict[str, Any]:
        """Count the records."""
        return {"messages": self._read(bootstrap, topic).count()}

    def all_columns(self, bootstrap: str, topic: str) -> dict[str, Any]:
        """Bring every column of every record to Spark, and do nothing with it."""
        self._read(bootstrap, topic).write.format("noop").mode("overwrite").save()
        return {}

    def aggregation(self, bootstrap: str, topic: str) -> dict[str, Any]:
        """Group by partition: number, bytes of the values, last offset."""
        grouped = self._read(bootstrap, topic).groupBy("partition")
        rows = grouped.agg(F.count("*").alias("n"), F.sum(F.length("value")).alias("b"), F.max("offset")).collect()
        return {"messages": sum(row.n for row in rows), "bytes": sum(row.b for row in rows)}

    def write(self, bootstrap: str, topic: str, messages: int, payload: str) -> dict[str, Any]:
        """Write equal values, chosen to partitions by their keys."""
        rows = self._spark.range(0, messages, 1, 2).select(
            F.col("id").cast("string").alias("key"), F.lit(payload).alias("value")
        )
        options = {"kafka.bootstrap.servers": bootstrap, "topic": topic}
        rows.write.format(self._format).mode("append").options(**options).save()
        return {}

    def latency(self, bootstrap: str, topic: str, messages: int) -> dict[str, Any]:
        """Stream until so many records have come; the ms from a record's timestamp until the driver has its batch."""
        times_ms: list[float] = []

        def receive(batch: DataFrame, _batch_id: int) -> None:
            sent = [row.ms for row in batch.select(F.unix_millis("timestamp").alias("ms")).collect()]
            now_ms = time.time() * 1000
            times_ms.extend(now_ms - ms for ms in sent)

        stream = self._spark.readStream.format(self._format).options(**self._source(bootstrap, topic)).load()
        with tempfile.TemporaryDirectory(prefix="kafka-lite-bench-") as checkpoint:
            query = stream.writeStream.foreachBatch(receive).option("checkpointLocation", checkpoint).start()
            try:
                self._say({"ready": self._is_up(query)})
                deadline = time.monotonic() + SETTLING_S
                while len(times_ms) < messages and time.monotonic() < deadline and query.isActive:
                    time.sleep(0.05)
            finally:
                query.stop()
        return {"times_ms": times_ms}

    @staticmethod
    def _is_up(query: Any) -> bool:
        """Wait until the query has looked for records once, so that its start is not measured."""
        deadline = time.monotonic() + SETTLING_S
        while not query.recentProgress and query.isActive and time.monotonic() < deadline:
            time.sleep(0.05)
        return bool(query.recentProgress)

    def _read(self, bootstrap: str, topic: str) -> DataFrame:
        return self._spark.read.format(self._format).options(**self._source(bootstrap, topic)).load()

    @staticmethod
    def _source(bootstrap: str, topic: str) -> dict[str, str]:
        return {"kafka.bootstrap.servers": bootstrap, "subscribe": topic}

    @staticmethod
    def _say(what: Mapping[str, Any]) -> None:
        print(json.dumps(what), flush=True)

    def serve(self) -> None:
        """Do what the lines of the standard input say, until it ends."""
        tasks: dict[str, Callable[..., dict[str, Any]]] = {
            "count": self.count,
            "all columns": self.all_columns,
            "aggregation": self.aggregation,
            "write": self.write,
            "latency": self.latency,
        }
        for line in sys.stdin:
            arguments = json.loads(line)
            cpu_before, began = cpu_s(), time.perf_counter()
            found = tasks[arguments.pop("task")](**arguments)
            self._say(found | {"s": time.perf_counter() - began, "cpu_s": cpu_s() - cpu_before})


def cpu_s() -> float:
    """Processor time so far of this process, the JVM and the Python workers, in seconds."""
    total = 0.0
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def main(source: str, *jars: str) -> None:
    """Start the session, say so, and serve."""
    config = {"spark.jars": ",".join(jars), "spark.driver.memory": MEMORY, "spark.sql.shuffle.partitions": "2"}
    # A session of minutes: the JVM's second compiler pays off, and Spark's connector is Java.
    config["spark.driver.extraJavaOptions"] = ""
    config["spark.sql.streaming.noDataProgressEventInterval"] = "100"  # so that a stream is soon known to be up
    with tempfile.TemporaryDirectory(prefix="kafka-lite-bench-") as folder:
        spark = session("bench", master=MASTER, config=config, log_file=Path(folder, "spark.log"))
        try:
            client = SparkClient(spark, source)
            print(json.dumps({"spark": spark.version}), flush=True)
            client.serve()
        finally:
            spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
