"""Kafka 3.9.1's producer tools and ours do the same with our broker: messages, lines, events, metrics."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence

import pytest

from kafka_lite.old_producer import KeyedMessage, Producer
from kafka_lite.testing.cluster import Cluster
from tests.support.jvm import classpath, compile_java, run_java
from tests.support.kafka_tools import KafkaTools, Outcome
from tests.support.patience import patient_s

pytestmark = pytest.mark.jvm

JARS = ("org.apache.kafka:kafka_2.13:3.9.1", "org.apache.kafka:kafka-tools:3.9.1")
CONSOLE_PRODUCER = "kafka.tools.ConsoleProducer"
PERFORMANCE = "org.apache.kafka.tools.ProducerPerformance"
VERIFIABLE = "org.apache.kafka.tools.VerifiableProducer"

READERS: dict[str, tuple[dict[str, str], str]] = {
    "lines": ({}, "one\n\ntwo words\nthree"),
    "keys": ({"parse.key": "true"}, "k\tv\nk\t\n\tv\nk\tv\tw\n"),
    "separator": ({"parse.key": "true", "key.separator": "=>"}, "k=>v\nk=>v=>w\n"),
    "ignored-errors": ({"parse.key": "true", "ignore.error": "true"}, "nokey\nk\tv\n"),
    "headers": ({"parse.headers": "true"}, "h:1,i:2\tv\nh:\tv\nh:1:2\tv\nh:1,\tv\n"),
    "headers-and-keys": ({"parse.headers": "true", "parse.key": "true"}, "h:1\tk\tv\n"),
    "other-separators": (
        {"parse.headers": "true", "headers.delimiter": "#", "headers.separator": ";", "headers.key.separator": "="},
        "h=1;i=2#v\n",
    ),
    "ignored-headers": ({"parse.headers": "true", "ignore.error": "true"}, "h\tv\nno headers\n"),
    "nulls": ({"parse.key": "true", "null.marker": "NULL"}, "NULL\tv\nk\tNULL\nNULL\tNULL\n"),
    "header-nulls": ({"parse.headers": "true", "null.marker": "N"}, "h:N\tv\nN\tv\n"),
}

NOT_OURS = re.compile(
    r"app-info:"  # Kafka's version: not a number, so no metric of ours
    r"|:txn-|:(successful|failed)-(re)?authentication-|:reauthentication-|:successful-authentication-no-reauth-"
    r"|:io-?time-total|:io-?waittime-total|:bufferpool-wait-time-total"  # deprecated names of …-ns-total
)
"""What a producer of Kafka 3.9 measures and ours does not: transactions, SASL, and what it deprecates itself."""


def kafkas_tools(commands: Sequence[Sequence[str]]) -> list[Outcome]:
    """The outcome of each command (stdin, class, arguments), all in one JVM."""
    with KafkaTools("3.9.1", with_errors=True) as tools:
        return [tools.run(*words, stdin=stdin) for stdin, *words in commands]


def ours(tool: str, *arguments: str, stdin: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-m", "kafka_lite.tools.main", tool, *arguments],
        input=stdin, capture_output=True, text=True, timeout=patient_s(120), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as cluster:
        yield cluster


def stored(cluster: Cluster, topic: str) -> list[object]:
    return [(record.key, record.value, tuple(map(tuple, record.headers))) for record in cluster.records(topic)]


def test_the_same_lines_become_the_same_messages(cluster: Cluster) -> None:
    commands = []
    for name, (properties, text) in READERS.items():
        for side in ("kafka", "ours"):
            cluster.create_topic(f"{name}-{side}")
        # Kafka's tool closes its producer when the JVM exits, but here it keeps running: so each message is awaited.
        flags = ["--sync", "--timeout", "0", "--request-timeout-ms", "30000"]
        flags += [word for key, value in properties.items() for word in ("--property", f"{key}={value}")]
        server = ["--bootstrap-server", cluster.bootstrap_servers]
        commands.append([text, CONSOLE_PRODUCER, *server, "--topic", f"{name}-kafka", *flags])
        ours("console-producer", *server, "--topic", f"{name}-ours", *flags, stdin=text)
    outcomes = kafkas_tools(commands)
    assert [code for code, _ in outcomes] == [0] * len(commands), outcomes
    for name in READERS:
        assert stored(cluster, f"{name}-ours") == stored(cluster, f"{name}-kafka"), name
        assert stored(cluster, f"{name}-ours"), name


def test_the_performance_tests_print_the_same_lines_and_metrics(cluster: Cluster) -> None:
    cluster.create_topic("perf")
    arguments = [
        *("--topic", "perf", "--num-records", "500", "--record-size", "50", "--throughput", "-1", "--print-metrics"),
        *("--producer-props", f"bootstrap.servers={cluster.bootstrap_servers}", "linger.ms=5"),
    ]
    ((code, of_kafka),) = kafkas_tools([["", PERFORMANCE, *arguments]])
    assert code == 0, of_kafka
    of_ours = ours("producer-perf-test", *arguments)
    assert shape(total_line(of_ours)) == shape(total_line(of_kafka))
    kafkas_names, our_names = metric_names(of_kafka), metric_names(of_ours)
    missing = {name for name in kafkas_names - our_names if not NOT_OURS.search(name)}
    assert not missing
    assert our_names <= kafkas_names
    kafkas_values, our_values = metric_values(of_kafka), metric_values(of_ours)
    topic = "{client-id=perf-producer-client, topic=perf}"
    for name in (
        f"producer-topic-metrics:record-send-total:{topic}",
        f"producer-topic-metrics:compression-rate:{topic}",
    ):
        assert our_values[name] == kafkas_values[name]


def total_line(output: str) -> str:
    return next(line for line in output.splitlines() if "99.9th" in line)


def shape(line: str) -> str:
    """The line with each number replaced by the number of its decimals."""
    return re.sub(r"\d+(?:\.(\d+))?", lambda number: f"<{len(number[1] or '')}>", line)


def metric_values(output: str) -> dict[str, str]:
    lines = output[output.index("Metric Name") :].splitlines()[1:]
    pairs = [line.rsplit(" : ", 1) for line in lines if " : " in line]
    return {name.rstrip(): value for name, value in pairs}


def metric_names(output: str) -> set[str]:
    return set(metric_values(output))


def test_verifiable_producers_print_the_same_events(cluster: Cluster) -> None:
    cluster.create_topic("verifiable-kafka")
    cluster.create_topic("verifiable-ours")
    arguments = ("--bootstrap-server", cluster.bootstrap_servers, "--max-messages", "5", "--value-prefix", "2")
    keys = ("--repeating-keys", "3")
    done = run_java(VERIFIABLE, "--topic", "verifiable-kafka", *arguments, *keys, classpath=classpath(*JARS))
    of_kafka = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    output = ours("verifiable-producer", "--topic", "verifiable-ours", *arguments, *keys)
    of_ours = [json.loads(line) for line in output.splitlines()]
    assert [constant(event) for event in of_ours] == [constant(event) for event in of_kafka]
    assert {name: type(value) for name, value in of_ours[1].items()} == {
        name: type(value) for name, value in of_kafka[1].items()
    }
    assert stored(cluster, "verifiable-ours") == stored(cluster, "verifiable-kafka")


def constant(event: dict[str, object]) -> dict[str, object]:
    """The fields that do not depend on time and speed."""
    varying = {"timestamp", "avg_throughput", "topic"}
    return {name: "varies" if name in varying else value for name, value in event.items()}


def test_old_producers_put_the_same_keys_into_the_same_partitions(cluster: Cluster) -> None:
    """Scala's console producer, and ours with ``--old-producer``: what they send, and to which partition."""
    cluster.create_topic("old-kafka", partitions=7)
    cluster.create_topic("old-ours", partitions=7)
    lines = "".join(f"schlüssel {number}\tvalue {number}\n" for number in range(200))
    flags = ("--property", "parse.key=true", "--sync", "--request-timeout-ms", "30000")
    server = ("--broker-list", cluster.bootstrap_servers)
    jars = classpath("org.apache.kafka:kafka_2.11:0.10.2.2", "javax.xml.bind:jaxb-api:2.3.1")
    old_tool = (CONSOLE_PRODUCER, "--old-producer", "--topic", "old-kafka", *server, *flags)
    run_java(*old_tool, classpath=jars, stdin=lines, options=["-Dfile.encoding=UTF-8"])
    ours("console-producer", "--old-producer", "--topic", "old-ours", *server, *flags, stdin=lines)

    def placed(topic: str) -> list[tuple[int, bytes | None, bytes | None]]:
        return [(record.partition, record.key, record.value) for record in cluster.records(topic)]

    assert len(placed("old-kafka")) == 200
    assert placed("old-ours") == placed("old-kafka")


OLD_PRODUCER_BEANS = """
import java.lang.management.ManagementFactory;
import java.util.Properties;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import kafka.javaapi.producer.Producer;
import kafka.producer.KeyedMessage;
import kafka.producer.ProducerConfig;

public class OldProducerBeans {
    public static void main(String[] args) throws Exception {
        Properties configs = new Properties();
        configs.put("metadata.broker.list", args[0]);
        configs.put("producer.type", "async");
        configs.put("request.required.acks", "1");
        configs.put("queue.buffering.max.ms", "1");
        configs.put("client.id", "me");
        Producer<byte[], byte[]> producer = new Producer<>(new ProducerConfig(configs));
        producer.send(new KeyedMessage<byte[], byte[]>("beans", "v".getBytes()));
        MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
        String last = "kafka.producer:name=ProducerRequestThrottleRateAndTimeMs,brokerHost=*,*";
        while (beans.queryNames(new ObjectName(last), null).isEmpty())
            Thread.sleep(50);
        for (ObjectName name : beans.queryNames(new ObjectName("kafka.producer*:*"), null))
            System.out.println(name);
        producer.close();
    }
}
"""


def test_the_old_producers_have_the_same_beans(cluster: Cluster) -> None:
    cluster.create_topic("beans")
    jars = classpath("org.apache.kafka:kafka_2.11:0.10.2.2", "javax.xml.bind:jaxb-api:2.3.1")
    classes = compile_java(OLD_PRODUCER_BEANS, jars)
    done = run_java("OldProducerBeans", cluster.bootstrap_servers, classpath=[classes, *jars])
    kafkas = set(filter(lambda line: line.startswith("kafka.producer"), done.stdout.splitlines()))
    configs = {
        "metadata.broker.list": cluster.bootstrap_servers, "producer.type": "async", "request.required.acks": 1,
        "client.id": "me",
    }  # fmt: skip
    with Producer(configs) as producer:
        producer.send(KeyedMessage("beans", b"v"))
    assert kafkas
    assert {name.mbean_name for name in producer.stats.beans()} == kafkas
