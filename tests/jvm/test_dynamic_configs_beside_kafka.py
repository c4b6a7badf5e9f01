"""Dynamic configs of a running broker, and the errors of invalid ones: Kafka 3.9.1's responses compared with ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.patience import patient_s
from tests.support.patient_clients import answer

pytestmark = pytest.mark.jvm

FOR_PARTS_TO_COME = ("ssl.", "sasl.", "principal.builder.class", "num.replica.fetchers")
NOT_HERE = {
    "advertised.listeners",
    "listener.security.protocol.map",
    "listeners",
    "metric.reporters",
    "num.network.threads",
}


class Broker:
    """One broker, Kafka's or ours."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._client = AdminClient({"bootstrap.servers": bootstrap_servers})
        [broker] = self._client.list_topics(timeout=patient_s(60)).brokers
        self._id = str(broker)

    def configs(self) -> Mapping[str, ConfigEntry]:
        resource = ConfigResource(ResourceType.BROKER, self._id)
        found: Mapping[str, ConfigEntry] = answer(self._client.describe_configs([resource])[resource])
        return found

    def set(self, key: str, value: str) -> None:
        entry = ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.BROKER, self._id, incremental_configs=[entry])
        answer(self._client.incremental_alter_configs([resource])[resource])

    def refusal(self, key: str, value: str) -> tuple[str, str]:
        """The error code and message with which a value is rejected."""
        with pytest.raises(KafkaException) as caught:
            self.set(key, value)
        error = caught.value.args[0]
        return error.name(), error.str()


@pytest.fixture(scope="module")
def theirs(real_kafka_3_9: str) -> Broker:
    return Broker(real_kafka_3_9)


@pytest.fixture(scope="module")
def ours() -> Iterator[Broker]:
    with Cluster({"num.io.threads": "8"}) as cluster:
        yield Broker(cluster.bootstrap_servers)


def test_the_same_keys_are_dynamic(theirs: Broker, ours: Broker) -> None:
    their_configs, our_configs = theirs.configs(), ours.configs()
    both = their_configs.keys() & our_configs.keys()
    dynamic_there = {key for key in both if not their_configs[key].is_read_only}
    dynamic_here = {key for key in both if not our_configs[key].is_read_only}
    missing = dynamic_there - dynamic_here
    assert dynamic_here <= dynamic_there
    assert len(dynamic_here) >= 36
    assert {key for key in missing if not key.startswith(FOR_PARTS_TO_COME)} == NOT_HERE


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("log.retention.hours", "5", "Cannot update these configs dynamically"),
        ("log.message.format.version", "2.0", "Cannot update these configs dynamically"),
        ("num.io.threads", "17", "num.io.threads=17, value should not be greater than double the current value 8"),
        ("num.io.threads", "3", "num.io.threads=3, value should be at least half the current value 8"),
        ("background.threads", "0", "Invalid value 0 for configuration background.threads: Value must be at least 1"),
        ("background.threads", "many", "for configuration background.threads: Not a number of type INT"),
        ("min.insync.replicas", "0", "for configuration min.insync.replicas: Value must be at least 1"),
        ("log.message.timestamp.type", "X", "String must be one of: CreateTime, LogAppendTime"),
        ("compression.type", "rar", "String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer"),
        ("log.cleaner.min.cleanable.ratio", "2", "Value must be no more than 1"),
        ("log.cleaner.delete.retention.ms", "-5", "log.cleaner.delete.retention.ms: Value must be at least 0"),
        ("log.segment.bytes", "1", "Invalid value 1 for configuration log.segment.bytes: Value must be at least 14"),
        ("log.cleanup.policy", "x", "String must be one of: compact, delete"),
        ("log.preallocate", "maybe", "Expected value to be either true or false"),
        ("producer.id.expiration.ms", "0", "producer.id.expiration.ms: Value must be at least 1"),
        ("log.retention.ms", "0", "must be unlimited (-1) or"),
    ],
)
def test_invalid_values_have_the_same_error_messages(
    theirs: Broker, ours: Broker, key: str, value: str, says: str
) -> None:
    for broker in (theirs, ours):
        code, sentence = broker.refusal(key, value)
        assert code == "INVALID_REQUEST"
        assert says in sentence


def test_custom_configs_are_kept_and_hidden(theirs: Broker, ours: Broker) -> None:
    for broker in (theirs, ours):
        broker.set("my.plugin", "secret")
        eventually(lambda broker=broker: "my.plugin" in broker.configs())
        entry = broker.configs()["my.plugin"]
        assert (entry.value, entry.is_sensitive, entry.is_read_only) == (None, True, True)
        assert [(name, synonym.value) for name, synonym in entry.synonyms.items()] == [("my.plugin", None)]


def test_synonyms_begin_with_the_key_itself(theirs: Broker, ours: Broker) -> None:
    their_configs, our_configs = theirs.configs(), ours.configs()
    for key in (
        "log.roll.ms",
        "log.roll.hours",
        "log.roll.jitter.ms",
        "log.flush.interval.ms",
        "log.retention.minutes",
    ):
        their_synonyms, our_synonyms = (list(configs[key].synonyms) for configs in (their_configs, our_configs))
        assert our_synonyms == their_synonyms, key
