"""Kafka's tools on a cluster of its brokers and ours: those of 0.10.2.2 through ZooKeeper, of 3.9.1 through brokers."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as ClientPartition
from confluent_kafka.admin import AdminClient

from tests.support.eventually import eventually
from tests.support.jvm import classpath, java_command
from tests.support.kafka_tools import KafkaTools, our_tool
from tests.support.mixed_cluster import OURS, MixedCluster, assert_replicas_are_equal, mixed_cluster
from tests.support.patience import patient_s
from tests.support.patient_clients import flush
from tests.support.real_kafka import JARS, OLD, TODAYS

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(240)]

TOPICS = "kafka.admin.TopicCommand"
CONFIGS = "kafka.admin.ConfigCommand"
REASSIGN = "kafka.admin.ReassignPartitionsCommand"
PREFERRED = "kafka.admin.PreferredReplicaLeaderElectionCommand"
VERIFICATION = "kafka.tools.ReplicaVerificationTool"
TOPICS_3_9 = "org.apache.kafka.tools.TopicCommand"
REASSIGN_3_9 = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
ELECTION_3_9 = "org.apache.kafka.tools.LeaderElectionCommand"
OFFSETS_3_9 = "org.apache.kafka.tools.GetOffsetShell"
LOG_DIRS_3_9 = "org.apache.kafka.tools.LogDirsCommand"
GROUPS_3_9 = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
TOPIC = "tools"


# Each tool is used in each run, and each kind of controller: the other pairs are for the night.
@pytest.fixture(params=[1, pytest.param(3, marks=pytest.mark.nightly)], ids=["our-controller", "their-controller"])
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MixedCluster]:
    with mixed_cluster(tmp_path, {1: OURS, 2: OURS, 3: OLD, 4: OLD}) as cluster:
        cluster.start_broker(request.param)
        cluster.start_broker(*(set(cluster.ids) - {request.param}))
        yield cluster


@pytest.fixture(params=[pytest.param(1, marks=pytest.mark.nightly), 3], ids=["our-controller", "their-controller"])
def todays_cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MixedCluster]:
    with mixed_cluster(tmp_path, {1: OURS, 2: OURS, 3: TODAYS, 4: TODAYS}) as cluster:
        cluster.start_broker(request.param)
        cluster.start_broker(*(set(cluster.ids) - {request.param}))
        yield cluster


def await_known(cluster: MixedCluster, partitions: int) -> None:
    """Wait until every broker knows all partitions, as clients require: the controller tells one after the other."""
    for broker in cluster.brokers:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_server, "log_level": 0})
        limit_s = patient_s(10)
        eventually(
            lambda a=admin, s=limit_s: len(a.list_topics(TOPIC, timeout=s).topics[TOPIC].partitions) == partitions
        )


def fill(cluster: MixedCluster, count: int) -> None:
    await_known(cluster, len(cluster.assignment(TOPIC)))
    errors: list[object] = []
    config = {"bootstrap.servers": cluster.bootstrap_servers, "acks": "all", "batch.num.messages": 10, "log_level": 0}
    producer = Producer(config)
    partitions = len(cluster.assignment(TOPIC))
    for number in range(count):
        value = b"%d" % number * 20
        producer.produce(TOPIC, value, partition=number % partitions, on_delivery=lambda e, _: e and errors.append(e))
    flush(producer)
    assert not errors


def rolled(cluster: MixedCluster) -> bool:
    """Write a little; true once every replica has rolled its log, as a small segment.ms makes it do."""
    fill(cluster, 8)
    time.sleep(0.1)
    replicas = [(b, n) for n, brokers in cluster.assignment(TOPIC).items() for b in brokers]
    return all(len(cluster.log_files(broker_id, TOPIC, number)) > 1 for broker_id, number in replicas)


def test_tools_of_0_10_2_administer_a_mixed_cluster(cluster: MixedCluster, tmp_path: Path) -> None:
    zookeeper = ("--zookeeper", cluster.zookeeper_connect)
    with KafkaTools(OLD) as tool:
        created = tool(TOPICS, "--create", *zookeeper, "--topic", TOPIC, "--replica-assignment", "1:3:2,3:1:4,2:4:1")
        assert f'Created topic "{TOPIC}".' in created
        cluster.await_in_sync(TOPIC)
        fill(cluster, 500)

        tool(TOPICS, "--alter", *zookeeper, "--topic", TOPIC, "--partitions", "4", "--replica-assignment",
             "1:3:2,3:1:4,2:4:1,4:2:3")  # fmt: skip
        cluster.await_in_sync(TOPIC)
        assert tool(TOPICS, "--list", *zookeeper).split() == [TOPIC]
        described = tool(TOPICS, "--describe", *zookeeper, "--topic", TOPIC)
        assert re.findall(r"Partition: (\d)\s+Leader: (\d)", described) == [*zip("0123", "1324", strict=True)]
        assert not tool(TOPICS, "--describe", *zookeeper, "--under-replicated-partitions").strip()
        assert our_tool("topics", "--describe", *zookeeper, "--under-replicated-partitions") == (0, "")

        entity = ("--entity-type", "topics", "--entity-name", TOPIC)
        tool(CONFIGS, "--alter", *zookeeper, *entity, "--add-config", "segment.ms=100")
        assert "segment.ms=100" in tool(CONFIGS, "--describe", *zookeeper, *entity)
        eventually(lambda: rolled(cluster))

        cluster.brokers[2].kill()
        cluster.brokers[4].kill()
        eventually(lambda: not cluster.led_by(2, TOPIC) | cluster.led_by(4, TOPIC))
        cluster.start_broker(2, 4)
        cluster.await_in_sync(TOPIC)
        preferred = json.dumps({"partitions": [{"topic": TOPIC, "partition": 2}, {"topic": TOPIC, "partition": 3}]})
        (tmp_path / "preferred.json").write_text(preferred)
        tool(PREFERRED, *zookeeper, "--path-to-json-file", str(tmp_path / "preferred.json"))
        eventually(lambda: (cluster.led_by(2, TOPIC), cluster.led_by(4, TOPIC)) == ({2}, {3}))

        moves = tmp_path / "reassignment.json"
        target = {0: [4, 2, 1], 1: [2, 3, 1], 2: [3, 4, 2], 3: [1, 3, 4]}
        moved = [{"topic": TOPIC, "partition": number, "replicas": to} for number, to in target.items()]
        moves.write_text(json.dumps({"version": 1, "partitions": moved}))
        reassignment = (*zookeeper, "--reassignment-json-file", str(moves))
        assert "Successfully started reassignment of partitions" in tool(REASSIGN, *reassignment, "--execute")
        eventually(lambda: tool(REASSIGN, *reassignment, "--verify").count("completed successfully") == len(target))
        assert cluster.assignment(TOPIC) == target
        cluster.await_in_sync(TOPIC)
        assert_replicas_are_equal(cluster, TOPIC)
        verify(cluster)

        tool(TOPICS, "--delete", *zookeeper, "--topic", TOPIC)
        eventually(lambda: not cluster.zk.topic_exists(TOPIC))
        for broker in cluster.brokers:
            eventually(lambda b=broker: not list(b.log_dir.glob(f"{TOPIC}-?")))


def test_tools_of_3_9_administer_a_mixed_cluster(todays_cluster: MixedCluster, tmp_path: Path) -> None:
    cluster = todays_cluster
    servers = ("--bootstrap-server", cluster.bootstrap_servers)
    with KafkaTools(TODAYS) as tool:
        tool(TOPICS_3_9, "--create", *servers, "--topic", TOPIC, "--replica-assignment", "1:3:2,3:1:4,2:4:1")
        cluster.await_in_sync(TOPIC)
        alter = ("--alter", *servers, "--topic", TOPIC, "--partitions", "4")
        assignment = ("--replica-assignment", "1:3:2,3:1:4,2:4:1,4:2:3")
        eventually(lambda: tool.run(TOPICS_3_9, *alter, *assignment).code == 0, "every broker knows the topic")
        cluster.await_in_sync(TOPIC)
        fill(cluster, 400)
        described = tool(TOPICS_3_9, "--describe", *servers, "--topic", TOPIC)
        assert re.findall(r"Partition: (\d)\s+Leader: (\d)", described) == [*zip("0123", "1324", strict=True)]
        assert tool(OFFSETS_3_9, *servers, "--topic", TOPIC).split() == [f"{TOPIC}:{each}:100" for each in range(4)]
        found = json.loads(tool(LOG_DIRS_3_9, "--describe", *servers, "--topic-list", TOPIC).splitlines()[-1])
        assert {each["broker"]: len(each["logDirs"][0]["partitions"]) for each in found["brokers"]} == dict.fromkeys(
            (1, 2, 3, 4), 3
        )

        entity = ("--entity-type", "topics", "--entity-name", TOPIC)
        tool(CONFIGS, "--alter", *servers, *entity, "--add-config", "segment.ms=100")
        assert "segment.ms=100" in tool(CONFIGS, "--describe", *servers, *entity)
        eventually(lambda: rolled(cluster))

        cluster.brokers[2].kill()
        cluster.brokers[4].kill()
        eventually(lambda: not cluster.led_by(2, TOPIC) | cluster.led_by(4, TOPIC))
        cluster.start_broker(2, 4)
        cluster.await_in_sync(TOPIC)
        tool(ELECTION_3_9, *servers, "--election-type", "preferred", "--all-topic-partitions")
        eventually(lambda: (cluster.led_by(2, TOPIC), cluster.led_by(4, TOPIC)) == ({2}, {3}))

        moves = tmp_path / "reassignment.json"
        target = {0: [4, 2, 1], 1: [2, 3, 1], 2: [3, 4, 2], 3: [1, 3, 4]}
        moved = [{"topic": TOPIC, "partition": number, "replicas": to} for number, to in target.items()]
        moves.write_text(json.dumps({"version": 1, "partitions": moved}))
        reassignment = (*servers, "--reassignment-json-file", str(moves))
        assert "Successfully started partition reassignments" in tool(REASSIGN_3_9, *reassignment, "--execute")
        eventually(lambda: tool(REASSIGN_3_9, *reassignment, "--verify").count("is completed") == len(target))
        assert cluster.assignment(TOPIC) == target
        cluster.await_in_sync(TOPIC)
        assert_replicas_are_equal(cluster, TOPIC)

        committed = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "tools", "log_level": 0})
        committed.commit(offsets=[ClientPartition(TOPIC, 0, 7)], asynchronous=False)
        committed.close()
        assert re.search(rf"tools\s+{TOPIC}\s+0\s+7\s", tool(GROUPS_3_9, *servers, "--describe", "--group", "tools"))

        tool(TOPICS_3_9, "--delete", *servers, "--topic", TOPIC)
        eventually(lambda: not cluster.zk.topic_exists(TOPIC))
        for broker in cluster.brokers:
            eventually(lambda b=broker: not list(b.log_dir.glob(f"{TOPIC}-?")))


def verify(cluster: MixedCluster) -> None:
    """Kafka's tool fetches from all replicas and compares the checksums of what it gets; it ends never."""
    command = java_command(
        VERIFICATION, "--broker-list", cluster.bootstrap_servers, "--topic-white-list", TOPIC,
        "--report-interval-ms", "500", classpath=classpath(*JARS[OLD]),
    )  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None
            printed = []
            for line in process.stdout:
                printed.append(line)
                if "max lag is" in line:
                    break
            assert re.search(r"max lag is 0 for partition \S+ at offset \d+ among 4 partitions", printed[-1]), printed
        finally:
            process.kill()
