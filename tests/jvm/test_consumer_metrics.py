"""Our consumer has the metrics of Kafka 3.9's: the outputs of both performance tests are compared."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from kafka_lite.producer import KafkaProducer, ProducerRecord
from kafka_lite.testing.cluster import Cluster
from tests.support.jvm import classpath, java_command
from tests.support.patience import patient_s

pytestmark = pytest.mark.jvm

JARS = (
    "org.apache.kafka:kafka_2.13:3.9.1",
    "org.apache.kafka:kafka-tools:3.9.1",
    "org.slf4j:slf4j-reload4j:1.7.36",
)
RECORDS = 500
NOT_OURS = re.compile(
    r"app-info:|"  # Kafka's version: not a number
    r"authentication|reauthentication|iotime|io-waittime|"  # SASL; names that Kafka has deprecated
    r"partition="  # the tool prints after the close, when we have removed the lag of revoked partitions
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster({"group.initial.rebalance.delay.ms": 0}) as cluster:
        yield cluster


def output_of(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=patient_s(100), check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def metrics(output: str) -> dict[str, str]:
    """Each printed metric with its value; the client id contains a number, which is removed."""
    lines = output[output.index("Metric Name") :].splitlines()[1:]
    pairs = [line.rsplit(" : ", 1) for line in lines if " : " in line]
    return {re.sub(r"client-id=[^,}]+", "client-id=c", name.rstrip()): value for name, value in pairs}


def test_names_and_totals_match_kafka(cluster: Cluster) -> None:
    cluster.create_topic("perf", 2)
    with KafkaProducer({"bootstrap.servers": cluster.bootstrap_servers}) as producer:
        for number in range(RECORDS):
            producer.send(ProducerRecord("perf", b"%d" % number))
    arguments = ["--bootstrap-server", cluster.bootstrap_servers, "--topic", "perf", "--messages", str(RECORDS)]
    arguments.append("--print-metrics")
    of_kafka = metrics(
        output_of(java_command("org.apache.kafka.tools.ConsumerPerformance", *arguments, classpath=classpath(*JARS)))
    )
    of_ours = metrics(output_of([sys.executable, "-m", "kafka_lite.tools.main", "consumer-perf-test", *arguments]))
    missing = {name for name in of_kafka.keys() - of_ours.keys() if not NOT_OURS.search(name)}
    assert not missing
    # Kafka's consumer and selector remove these when closed, and the tool prints after that.
    of_the_open = re.compile("consumer-(node-)?metrics:")
    assert not {name for name in of_ours.keys() - of_kafka.keys() if not of_the_open.match(name)}
    for name, value in of_kafka.items():
        if "records-consumed-total" in name or "assigned-partitions" in name:
            assert of_ours[name] == value, name
