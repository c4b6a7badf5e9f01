"""What Kafka 4.1 advertises and our broker does not, each with its reason."""

from __future__ import annotations

import pytest

from kafka_lite.server.kafka_apis import SERVED_VERSIONS
from tests.support.jvm import classpath, compile_java, run_java

pytestmark = pytest.mark.jvm

SOURCE = """
import org.apache.kafka.common.message.ApiMessageType.ListenerType;
import org.apache.kafka.common.protocol.ApiKeys;

public final class AdvertisedApis {
    public static void main(String[] arguments) {
        for (ApiKeys key : ApiKeys.apisForListener(ListenerType.BROKER))
            System.out.println(key.id + " " + key.latestVersion(false) + " " + key.name());
    }
}
"""
KRAFT = "the controllers of KRaft; ours are in ZooKeeper"
NOT_SERVED = {
    "ADD_RAFT_VOTER": (0, KRAFT),
    "DESCRIBE_QUORUM": (2, KRAFT),
    "FETCH": (18, "the high watermark of a follower, in KRaft only"),
    "REMOVE_RAFT_VOTER": (0, KRAFT),
    "UNREGISTER_BROKER": (0, KRAFT),
    "STREAMS_GROUP_DESCRIBE": (-1, "Streams groups (KIP-1071), which 4.1 does not advertise either"),
    "STREAMS_GROUP_HEARTBEAT": (-1, "the same"),
}
"""The newest version of Kafka 4.1, and why ours ends before it."""


def test_every_version_that_kafka_advertises_is_served_or_has_a_reason() -> None:
    jars = classpath("org.apache.kafka:kafka-clients:4.1.0")
    rows = run_java("AdvertisedApis", classpath=[compile_java(SOURCE, jars), *jars]).stdout.splitlines()
    newest = {name: (int(number), int(version)) for number, version, name in map(str.split, rows)}
    ours = {int(key): served.max_version for key, served in SERVED_VERSIONS.items()}
    missing = {name: version for name, (number, version) in newest.items() if ours.get(number, -2) < version}
    assert missing == {name: version for name, (version, _) in NOT_SERVED.items()}
