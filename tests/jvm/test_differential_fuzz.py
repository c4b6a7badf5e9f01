"""Drawn requests of every API and version that Kafka 4.1 and ours advertise, to both: what differs has a reason."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.schema import Request
from kafka_lite.server.kafka_apis import SERVED_VERSIONS
from kafka_lite.testing.cluster import Cluster
from tests.support.differential.answers import Difference, differences
from tests.support.differential.asked_broker import AskedBroker
from tests.support.differential.drawing import RequestDrawer
from tests.support.differential.vocabulary import TOPIC_IDS, TOPICS
from tests.support.real_kafka import NEWEST, real_kafka

pytestmark = pytest.mark.jvm

SETTINGS = {
    "auto.create.topics.enable": "false", "num.partitions": "3", "log.retention.ms": "-1",
    "offsets.topic.num.partitions": "3", "transaction.state.log.num.partitions": "3",
    "log.cleaner.dedupe.buffer.size": "10485760", "group.initial.rebalance.delay.ms": "0",
}  # fmt: skip
MEMBERSHIP = "a member waits for others, and is known by an id of its own; other tests have real members"
NOT_DRAWN = {
    ApiKey.LEADER_AND_ISR: "not served by 4.1", ApiKey.STOP_REPLICA: "the same",
    ApiKey.UPDATE_METADATA: "the same", ApiKey.CONTROLLED_SHUTDOWN: "the same",
    ApiKey.JOIN_GROUP: MEMBERSHIP, ApiKey.SYNC_GROUP: MEMBERSHIP, ApiKey.LEAVE_GROUP: MEMBERSHIP,
    ApiKey.HEARTBEAT: MEMBERSHIP, ApiKey.CONSUMER_GROUP_HEARTBEAT: MEMBERSHIP,
    ApiKey.SASL_HANDSHAKE: "the listener is not secured", ApiKey.SASL_AUTHENTICATE: "the same",
    ApiKey.API_VERSIONS: "test_advertised_versions.py compares the lists",
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: "offered while somebody subscribes", ApiKey.PUSH_TELEMETRY: "the same",
    ApiKey.WRITE_TXN_MARKERS: "between brokers, which are of one version in KRaft",
    **dict.fromkeys(
        (
            ApiKey.INITIALIZE_SHARE_GROUP_STATE, ApiKey.READ_SHARE_GROUP_STATE, ApiKey.WRITE_SHARE_GROUP_STATE,
            ApiKey.DELETE_SHARE_GROUP_STATE, ApiKey.READ_SHARE_GROUP_STATE_SUMMARY,
        ),
        "between brokers; test_share_coordinators.py has them",
    ),
    ApiKey.UPDATE_FEATURES: "all later requests would mean something else",
    ApiKey.ALTER_REPLICA_LOG_DIRS: "the folders of the two are not the same",
}  # fmt: skip
FIRST_VERSIONS = {ApiKey.PRODUCE: 3}
"""4.1 advertises Produce from 0, for librdkafka, and closes the connection of versions below 3."""
LAST_VERSIONS = {ApiKey.ADD_PARTITIONS_TO_TXN: 3}
"""Later ones are between brokers."""
CHANGES = {
    ApiKey.CREATE_TOPICS, ApiKey.CREATE_PARTITIONS, ApiKey.DELETE_TOPICS, ApiKey.ALTER_CONFIGS,
    ApiKey.INCREMENTAL_ALTER_CONFIGS, ApiKey.ALTER_CLIENT_QUOTAS, ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
}  # fmt: skip
"""After these, a broker in KRaft needs a moment until it knows what its controller has changed."""
SETTLING_S = 0.1

ZOOKEEPER = "the order of checks, and the errors, of Kafka 3.9.1 with ZooKeeper"
UNEXPECTED = "Kafka 4.1 fails with an unexpected error"
ANY = None
NO_SUCH_ACL = "Kafka closes the connection of a request whose types it does not know"
REASONS: dict[tuple[str, str], tuple[list[tuple[int, int]] | None, str]] = {
    ("ALTER_CONFIGS", "responses.error_code"): ([(40, 0), (40, 3), (40, 42), (42, 3), (42, 17)], ZOOKEEPER),
    ("INCREMENTAL_ALTER_CONFIGS", "responses.error_code"): ([(40, 3), (40, 42), (42, 3), (42, 17)], ZOOKEEPER),
    ("ALTER_PARTITION_REASSIGNMENTS", "responses.partitions.error_code"): ([(3, 39)], ZOOKEEPER),
    ("ALTER_USER_SCRAM_CREDENTIALS", "results.error_code"): (
        [(their, our) for their in (33, 91, 92) for our in (33, 92, 93)],
        "which of several errors about one user is said",
    ),
    ("CREATE_ACLS", ""): (ANY, NO_SUCH_ACL),
    ("DESCRIBE_ACLS", ""): (ANY, NO_SUCH_ACL),
    ("DELETE_ACLS", ""): (ANY, NO_SUCH_ACL),
    ("CREATE_TOPICS", "topics.error_code"): (
        [(their, our) for their in (17, 40, 44) for our in (36, 37, 38, 39, 42)],
        ZOOKEEPER,
    ),
    ("DESCRIBE_CONFIGS", "results.configs"): (ANY, "keys that 4.1 has and 3.9 has not, and synonyms of group keys"),
    ("DESCRIBE_TOPIC_PARTITIONS", "topics.error_code"): ([(-1, 0), (-1, 3), (-1, 17)], UNEXPECTED),
    ("DESCRIBE_TOPIC_PARTITIONS", "topics.partitions"): (ANY, UNEXPECTED),
    ("DESCRIBE_TOPIC_PARTITIONS", "topics.topic_authorized_operations"): (ANY, UNEXPECTED),
    ("DESCRIBE_TOPIC_PARTITIONS", "topics.topic_id"): (ANY, UNEXPECTED),
    ("FETCH", "error_code"): ([(-1, 0)], f"{UNEXPECTED} where a topic's id is zero"),
    ("FETCH", "responses"): (ANY, f"{UNEXPECTED} where a topic's id is zero"),
    ("TXN_OFFSET_COMMIT", "topics.partitions.error_code"): ([(47, 49)], "producer ids of other requests are not equal"),
    ("METADATA", "brokers"): (ANY, "no brokers in the answer to a request of version 11 that has ids"),
    ("METADATA", "controller_id"): (ANY, "the same"),
}
"""API and field -> Kafka's error and ours (``ANY``: whatever the field has), and why the two differ there."""


class _Pair:
    """Kafka and ours."""

    def __init__(self, theirs: AskedBroker, ours: AskedBroker) -> None:
        self.theirs, self.ours = theirs, ours
        advertised = theirs.versions()
        self.versions = {
            key: [
                version
                for version in range(served.min_version, served.max_version + 1)
                if version in advertised[int(key)]
                and FIRST_VERSIONS.get(key, 0) <= version <= LAST_VERSIONS.get(key, version)
            ]
            for key, served in SERVED_VERSIONS.items()
            if key not in NOT_DRAWN and int(key) in advertised
        }

    def differences(self, request: Request, version: int) -> list[Difference]:
        """What differs in the answers to one request."""
        theirs, ours = self.theirs.ask(request, version), self.ours.ask(request, version)
        if request.API_KEY in CHANGES:
            time.sleep(SETTLING_S)
        return list(differences(theirs, ours))


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[_Pair]:
    folder: Path = tmp_path_factory.mktemp("newest")
    with (
        real_kafka(NEWEST, folder, SETTINGS) as theirs,
        Cluster(SETTINGS) as cluster,
        closing(AskedBroker(theirs)) as kafka,
        closing(AskedBroker(cluster.bootstrap_servers)) as ours,
    ):
        kafka.prepare()
        ours.prepare()
        yield _Pair(kafka, ours)


@pytest.mark.parametrize(
    ("seed", "count"),
    [pytest.param("ci", 400, id="short"), pytest.param("night", 6000, id="long", marks=pytest.mark.nightly)],
)
def test_both_give_the_same_answers(pair: _Pair, seed: str, count: int) -> None:
    chosen, drawer = random.Random(seed), RequestDrawer(seed)
    keys = sorted(pair.versions)
    unexplained: dict[tuple[str, str, str, str], str] = {}
    for _ in range(count):
        key = chosen.choice(keys)
        version = chosen.choice(pair.versions[key])
        request = _harmless(drawer.request(key, version))
        for found in pair.differences(request, version):
            if not _has_reason(key, found):
                signature = (key.name, found.path, str(found.theirs)[:200], str(found.ours)[:200])
                unexplained.setdefault(signature, f"v{version} {request}"[:1500])
    assert not unexplained


def _has_reason(key: ApiKey, found: Difference) -> bool:
    errors, _ = REASONS.get((key.name, found.path), ([], ""))
    return errors is ANY or (found.theirs, found.ours) in errors


def _harmless(request: Any) -> Request:
    """The request without what would take the topics away that the others ask for."""
    if request.API_KEY is ApiKey.DELETE_TOPICS:
        request.topic_names = [name for name in request.topic_names if name not in TOPICS]
        request.topics = [
            each for each in request.topics if each.name not in TOPICS and each.topic_id not in TOPIC_IDS.values()
        ]
    assert isinstance(request, Request)
    return request
