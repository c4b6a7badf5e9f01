"""Two brokers that talk to each other, and to our clients and tools, by SCRAM over TLS; there is no other listener."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.admin.user_scram_credentials import Upsertion, alter
from kafka_lite.connect.runtime.distributed.distributed_config import DistributedConfig
from kafka_lite.connect.runtime.distributed.worker_group_member import WorkerGroupMember
from kafka_lite.connect.runtime.storage.cluster_config_state import ClusterConfigState
from kafka_lite.connect.runtime.topic_admin import TopicAdmin
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.network.authentication_error import SaslAuthenticationError, SslAuthenticationError
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.security.channel_builders import client_channel_builder
from kafka_lite.security.scram.scram_formatter import ScramFormatter
from kafka_lite.security.scram.scram_mechanism import ScramMechanism
from kafka_lite.spark.cluster_client import ClusterClient
from kafka_lite.spark.option_table import CONSUMER_CONFIGS
from kafka_lite.streams.assignment.streams_kafka_client import StreamsKafkaClient
from kafka_lite.streams.errors import StreamsError
from kafka_lite.streams.processor.internals.topology.internal_topic_config import InternalTopicConfig
from kafka_lite.testing.kafka_servers import KafkaServers
from kafka_lite.tools.main import main
from kafka_lite.zookeeper.embedded.embedded_zookeeper import EmbeddedZooKeeper
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from tests.support.certificates import certificate, keys_and_trust, server_certificate
from tests.support.connect_group import PROPS, URL, Rebalances, Snapshots
from tests.support.eventually import eventually

JAAS = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="{}" password="{}";'
SETTINGS = {
    "listeners": "SASL_SSL://localhost:0",
    "security.inter.broker.protocol": "SASL_SSL",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256",
    "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-256",
    "listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config": JAAS.format("broker", "of brokers"),
    "offsets.topic.num.partitions": 1,
    "offsets.topic.replication.factor": 2,
    "transaction.state.log.num.partitions": 1,
    "transaction.state.log.replication.factor": 2,
    "transaction.state.log.min.isr": 1,
    "group.initial.rebalance.delay.ms": 0,
    "controlled.shutdown.retry.backoff.ms": 50,
}
WAIT_MS = 60_000
CREATED = {"app-counts-changelog", "connect-offsets"}


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaServers]:
    folder = tmp_path_factory.mktemp("secured")
    keys = keys_and_trust(server_certificate(), server_certificate())
    with EmbeddedZooKeeper(folder / "zookeeper") as zookeeper:
        make_users(zookeeper.connect_string, broker=b"of brokers", alice=b"secret")
        servers = KafkaServers(folder, zookeeper.connect_string, SETTINGS | keys)
        try:
            servers.start(0)
            servers.start(1)
            eventually(servers.know_each_other)
            yield servers
        finally:
            servers.stop_all()


def make_users(connect: str, **passwords: bytes) -> None:
    """Before the first broker starts, as an operator does."""
    zk_client = KafkaZkClient(connect)
    zk_client.start(create_chroot=True)
    zk_client.create_persistent_paths()
    formatter = ScramFormatter(ScramMechanism.SCRAM_SHA_256)
    changes = [
        Upsertion(user, 1, 4096, b"salt", formatter.salted_password(password.decode(), b"salt", 4096))
        for user, password in passwords.items()
    ]
    assert set(alter(zk_client, [], changes).values()) == {None}
    zk_client.close()


def address(brokers: KafkaServers) -> str:
    return f"localhost:{brokers.servers[0].bound_port('SASL_SSL')}"


def config(brokers: KafkaServers, password: str = "secret", **more: object) -> dict[str, Any]:
    return {
        "bootstrap.servers": address(brokers),
        "security.protocol": "SASL_SSL",
        "ssl.truststore.certificates": server_certificate().authority,
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.jaas.config": JAAS.format("alice", password),
        **{key.replace("_", "."): value for key, value in more.items()},
    }


def command_config(brokers: KafkaServers, folder: Path, password: str = "secret") -> list[str]:
    trust = folder / "ca.pem"
    trust.write_text(server_certificate().authority)
    lines = {key: value for key, value in config(brokers, password).items() if key != "ssl.truststore.certificates"}
    file = folder / "client.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in {**lines, "ssl.truststore.location": trust}.items()))
    return ["--bootstrap-server", address(brokers), "--command-config", str(file)]


def test_records_are_replicated_and_transactions_end(
    brokers: KafkaServers, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = ["topics", "--create", "--topic", "orders", "--replication-factor", "2", "--partitions", "1"]
    assert main([*made, *command_config(brokers, tmp_path)]) == 0
    with KafkaProducer(config(brokers, acks="all", transactional_id="t")) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(ProducerRecord("orders", value=b"value"))
        producer.commit_transaction()
    reading = config(brokers, group_id="g", auto_offset_reset="earliest", isolation_level="read_committed")
    with KafkaConsumer(reading) as consumer:
        consumer.subscribe(["orders"])
        records = eventually(lambda: consumer.poll(1000))
    assert [record.value for record in records] == [b"value"]
    assert main(["consumer-groups", "--list", *command_config(brokers, tmp_path)]) == 0
    assert "g" in capsys.readouterr().out.split()


def attempts(keys: dict[str, Any]) -> dict[str, Callable[[], object]]:
    def send() -> None:
        with KafkaProducer(keys) as producer:
            producer.send(ProducerRecord("orders", value=b"value"))

    def begin() -> None:
        with KafkaProducer({**keys, "transactional.id": "refused"}) as producer:
            producer.init_transactions()

    def read() -> None:
        with KafkaConsumer({**keys, "group.id": "refused"}) as consumer:
            consumer.subscribe(["orders"])
            while True:
                consumer.poll(1000)

    return {"send": send, "begin": begin, "read": read}


@pytest.mark.parametrize("attempt", ["send", "begin", "read"])
def test_a_wrong_password_ends_at_once(brokers: KafkaServers, attempt: str) -> None:
    with pytest.raises(
        SaslAuthenticationError, match="Authentication failed during authentication due to invalid cred"
    ):
        attempts(config(brokers, "wrong"))[attempt]()


@pytest.mark.parametrize("attempt", ["send", "begin", "read"])
def test_a_certificate_that_is_not_trusted_ends_at_once(brokers: KafkaServers, attempt: str) -> None:
    foreign = {"ssl.truststore.certificates": certificate("localhost", of="Foreign CA").authority}
    with pytest.raises(SslAuthenticationError, match="SSL handshake failed: certificate verify failed"):
        attempts(config(brokers) | foreign)[attempt]()


def test_a_tool_says_why_it_is_refused(
    brokers: KafkaServers, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["topics", "--list", *command_config(brokers, tmp_path, "wrong")]) == 1
    said = capsys.readouterr().err
    assert f"{address(brokers)}: Authentication failed" in said
    assert "wrong" not in said


def test_streams_and_connect_create_their_topics(brokers: KafkaServers) -> None:
    streams = StreamsKafkaClient(config(brokers))
    changelog = InternalTopicConfig("app-counts-changelog", "compact", retention_ms=None)
    streams.create_topics({changelog: 1}, 1, streams.fetch_topics())
    assert TopicAdmin(config(brokers)).ensure_exists("connect-offsets", 1, 1)
    eventually(lambda: streams.fetch_topics().partition_counts.keys() >= CREATED)
    with pytest.raises(StreamsError, match="Authentication failed"):
        StreamsKafkaClient(config(brokers, "wrong")).fetch_topics()


def test_sparks_client_reads_metadata(brokers: KafkaServers) -> None:
    keys = CONSUMER_CONFIGS.parse(config(brokers))
    with ClusterClient([address(brokers)], "spark", WAIT_MS, client_channel_builder(keys, "spark")) as client:
        assert {broker.node_id for broker in client.metadata([]).brokers} == {0, 1}
    refused = CONSUMER_CONFIGS.parse(config(brokers, "wrong"))
    with (
        ClusterClient([address(brokers)], "spark", WAIT_MS, client_channel_builder(refused, "spark")) as client,
        pytest.raises(SaslAuthenticationError),
    ):
        client.metadata([])


def test_a_worker_of_connect_joins_its_group(brokers: KafkaServers) -> None:
    keys = PROPS | {key: str(value) for key, value in config(brokers).items()}
    configs: Any = Snapshots(ClusterConfigState(0, {}, {}))
    member = WorkerGroupMember(DistributedConfig(keys), URL, configs, Rebalances())
    try:
        member.ensure_active()
        assert member.member_id
    finally:
        member.stop()


def test_replicas_are_verified(brokers: KafkaServers, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    TopicAdmin(config(brokers)).ensure_exists("verified", 1, 2)
    verify = ["replica-verification", "--once", "--time", "-2", "--topics-include", "verified"]
    eventually(lambda: main([*verify, *command_config(brokers, tmp_path)]) == 0, capsys.readouterr)
    assert "verification process is started" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("tool", "says"),
    [
        (["streams-application-reset", "--application-id", "app", "--dry-run"], "Done."),
        (["top", "--cluster", "--once"], "2 brokers"),
    ],
)
def test_tools_that_ask_all_brokers(
    brokers: KafkaServers, tmp_path: Path, capsys: pytest.CaptureFixture[str], tool: list[str], says: str
) -> None:
    flags = command_config(brokers, tmp_path)
    if tool[0] == "streams-application-reset":
        flags[0] = "--bootstrap-servers"
    assert main([*tool, *flags]) == 0
    assert says in capsys.readouterr().out
