import json
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_lite.common.ids.uuids import decode_uuid
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.zookeeper.data import (
    BrokerRegistration,
    ClusterId,
    ConfigChange,
    ConsumerRegistration,
    ControllerData,
    LeaderAndIsr,
    LeaderIsrAndControllerEpoch,
    ProducerIdsBlock,
    SupportedLevels,
    TopicAssignment,
    decode_config,
    decode_int,
    decode_partitions,
    decode_reassignment,
    encode_config,
    encode_int,
    encode_partitions,
    encode_reassignment,
)
from kafka_lite.zookeeper.znode_json import ZnodeDataError

DATA = Path(__file__).parents[2] / "data"
TREES = {name: json.loads((DATA / f"zookeeper-tree-{name}.json").read_text()) for name in ("0.10.2", "3.9")}
OLD_CONSUMER = json.loads((DATA / "zookeeper-old-consumer-live.json").read_text())


def codec(path):
    """(decode, encode) of the node at a path, None for nodes without a value of their own."""
    parts = path.strip("/").split("/")
    match parts:
        case ["cluster", "id"]:
            return ClusterId.decode, ClusterId.encode
        case ["controller"]:
            return ControllerData.decode, ControllerData.encode
        case ["controller_epoch"]:
            return lambda data: decode_int(data, path), encode_int
        case ["brokers", "ids", _]:
            return BrokerRegistration.decode, BrokerRegistration.encode
        case ["brokers", "topics", _]:
            return TopicAssignment.decode, TopicAssignment.encode
        case ["brokers", "topics", _, "partitions", _, "state"]:
            return LeaderIsrAndControllerEpoch.decode, LeaderIsrAndControllerEpoch.encode
        case ["config", "changes", _]:
            return ConfigChange.decode, ConfigChange.encode
        case ["config", _, *_]:
            return lambda data: decode_config(data, path), encode_config
        case ["consumers", _, "ids", _]:
            return ConsumerRegistration.decode, ConsumerRegistration.encode
        case ["consumers", _, "offsets", _, _]:
            return lambda data: decode_int(data, path), encode_int
        case ["isr_change_notification", _]:
            return lambda data: decode_partitions(data, path), encode_partitions
    return None


NODES = [
    pytest.param(path, node["value"], id=f"{name}:{path}")
    for name, tree in [*TREES.items(), ("old-consumer", OLD_CONSUMER)]
    for path, node in tree.items()
    if node["value"] and codec(path)
]


@pytest.mark.parametrize(("path", "text"), NODES)
def test_data_of_real_brokers_is_read_and_written_back_unchanged(path, text):
    decode, encode = codec(path)
    written = json.loads(encode(decode(text.encode())))
    expected = json.loads(text)
    if path == "/controller":
        expected.pop("kraftControllerEpoch", None)  # added in 3.9, not used here
        expected["version"] = 1
    assert written == expected


def test_there_are_samples_of_every_kind_of_znode():
    kinds = {"/".join(part for part in param.values[0].split("/")[1:3]) for param in NODES}
    assert {"cluster/id", "controller", "controller_epoch", "brokers/ids", "brokers/topics", "config/changes"} <= kinds
    assert {"config/topics", "config/users", "config/clients", "config/brokers"} <= kinds


def test_encoded_bytes_match_kafka():
    state = LeaderIsrAndControllerEpoch(LeaderAndIsr(2, [2, 3, 1], 0, 7), 2)
    assert state.encode() == b'{"controller_epoch":2,"leader":2,"version":1,"leader_epoch":0,"isr":[2,3,1]}'
    assert TopicAssignment({0: [1]}).encode() == b'{"version":1,"partitions":{"0":[1]}}'
    assert ControllerData(1, 5).encode() == b'{"version":1,"brokerid":1,"timestamp":"5"}'
    assert ConfigChange("topics/t3").encode() == b'{"version":2,"entity_path":"topics/t3"}'


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_registrations_of_every_version_are_read(version):
    text = {
        1: {"jmx_port": -1, "timestamp": "1", "host": "h", "version": 1, "port": 9092},
        2: {"endpoints": ["PLAINTEXT://h:9092"], "version": 2},
        3: {"endpoints": ["PLAINTEXT://h:9092"], "rack": "r", "version": 3},
        4: {"endpoints": ["PLAINTEXT://h:9092"], "listener_security_protocol_map": {}, "version": 4},
        5: {"endpoints": ["PLAINTEXT://h:9092"], "features": {"f": {"min_version": 1, "max_version": 2}}, "version": 5},
    }[version]
    assert BrokerRegistration.decode(json.dumps(text).encode()).endpoints == ("PLAINTEXT://h:9092",)


def test_the_features_of_a_broker_are_written_and_read():
    registration = BrokerRegistration(("PLAINTEXT://h:1",), features={"f": SupportedLevels(1, 2)}, version=5)
    assert b'"features":{"f":{"min_version":1,"max_version":2}}' in registration.encode()
    assert BrokerRegistration.decode(registration.encode()) == registration
    assert SupportedLevels(1, 2).contains(0), "off"
    assert not SupportedLevels(1, 2).contains(3)
    assert b"features" not in replace(registration, version=4).encode()


def test_version_2_registrations_omit_later_fields():
    written = json.loads(BrokerRegistration(("PLAINTEXT://h:1",), {"PLAINTEXT": "PLAINTEXT"}, "r", version=2).encode())
    assert set(written) == {"endpoints", "jmx_port", "host", "timestamp", "port", "version"}


def test_topic_ids_are_read_and_written():
    topic = TopicAssignment({0: [1, 2]}, uuid.UUID(int=7), {0: [2]}, {})
    assert TopicAssignment.decode(topic.encode()) == topic


def test_partition_lists_are_read_and_written():
    partitions = [TopicPartition("g9", 0), TopicPartition("f9", 1)]
    assert decode_partitions(encode_partitions(partitions), "x") == partitions
    moves = {partitions[0]: [9, 1]}
    assert encode_reassignment(moves) == b'{"version":1,"partitions":[{"topic":"g9","partition":0,"replicas":[9,1]}]}'
    assert decode_reassignment(encode_reassignment(moves)) == moves


def test_formats_of_old_kafka_versions_are_read():
    assert ControllerData.decode(b"3").broker_id == 3
    change = b'{"version":1,"entity_type":"topics","entity_name":"t"}'
    assert ConfigChange.decode(change) == ConfigChange("topics/t")
    assert decode_config(None, "x") == {}


def test_cluster_ids_are_22_characters_of_url_safe_base_64():
    for _ in range(50):
        text = ClusterId.generate().id
        assert len(text) == 22
        assert not text.startswith("-")
        assert len(decode_uuid(text).bytes) == 16


@pytest.mark.parametrize(
    ("decode", "data"),
    [
        (ClusterId.decode, None),
        (ClusterId.decode, b"[]"),
        (ClusterId.decode, b'{"id":5}'),
        (ControllerData.decode, b'{"brokerid":true}'),
        (BrokerRegistration.decode, b'{"version":1}'),
        (TopicAssignment.decode, b'{"partitions":{"a":[1]}}'),
        (TopicAssignment.decode, b'{"partitions":{"0":["x"]}}'),
        (TopicAssignment.decode, b'{"partitions":{},"topic_id":"abc"}'),
        (LeaderIsrAndControllerEpoch.decode, b'{"leader":1,"leader_epoch":0,"isr":5,"controller_epoch":1}'),
        (lambda data: decode_int(data, "x"), b"x"),
        (lambda data: decode_config(data, "x"), b'{"config":1}'),
        (ConfigChange.decode, b"\xff"),
        (TopicAssignment.decode, b'{"partitions":{"0":null}}'),
        (TopicAssignment.decode, b'{"partitions":{"0":{"1":2}}}'),
        (TopicAssignment.decode, b'{"partitions":{"0":[true]}}'),
        (TopicAssignment.decode, b'{"partitions":{"\\ud800":[1]}}'),
        (TopicAssignment.decode, b'{"partitions":{},"topic_id":["x"]}'),
        (TopicAssignment.decode, b'{"partitions":{},"adding_replicas":[1]}'),
        (TopicAssignment.decode, b'{"partitions":{},"removing_replicas":{"0":3}}'),
        (ConsumerRegistration.decode, b'{"subscription":{"t":"x"}}'),
        (ConsumerRegistration.decode, b'{"subscription":{"t":null}}'),
        (ConsumerRegistration.decode, b'{"subscription":{"t":Infinity}}'),
        (BrokerRegistration.decode, b'{"version":4,"endpoints":[],"listener_security_protocol_map":["SSL"]}'),
        (BrokerRegistration.decode, b'{"version":4,"endpoints":[],"listener_security_protocol_map":{"SSL":5}}'),
        (BrokerRegistration.decode, b'{"version":4,"endpoints":[],"rack":7}'),
        (BrokerRegistration.decode, b'{"version":5,"endpoints":[],"features":{"f":{}}}'),
        (BrokerRegistration.decode, b'{"version":5,"endpoints":[],"features":{"f":1}}'),
        (ProducerIdsBlock.decode, b'{"broker":0,"block_start":"0","block_end":"%s"}' % (b"9" * 5000)),
        (ProducerIdsBlock.decode, b'{"broker":0,"block_start":"-1","block_end":"999"}'),
        (ProducerIdsBlock.decode, b'{"broker":0,"block_start":"0","block_end":"x"}'),
        (ProducerIdsBlock.decode, b'{"broker":0,"block_start":"0","block_end":"-5"}'),
        (ControllerData.decode, b"9" * 5000),
        (LeaderIsrAndControllerEpoch.decode, b'{"leader":1,"leader_epoch":0,"isr":[true],"controller_epoch":1}'),
        (lambda data: decode_partitions(data, "x"), b'{"partitions":[5]}'),
        (decode_reassignment, b'{"partitions":[null]}'),
        (decode_reassignment, b'{"partitions":[{"topic":"t","partition":0,"replicas":null}]}'),
        (ClusterId.decode, b"[" * 100_000),
    ],
)
def test_malformed_data_raises_znode_data_error(decode, data):
    with pytest.raises(ZnodeDataError):
        decode(data)


@pytest.mark.parametrize("timestamp", ['"\u00b2"', f'"{"9" * 5000}"', '"-5"', "null", "[]", "true"])
def test_an_unreadable_timestamp_is_treated_as_missing(timestamp):
    for decode, text in (
        (ControllerData.decode, '{"brokerid":1,"timestamp":%s}'),
        (BrokerRegistration.decode, '{"version":2,"endpoints":[],"timestamp":%s}'),
        (ConsumerRegistration.decode, '{"subscription":{},"timestamp":%s}'),
    ):
        assert decode((text % timestamp).encode()).timestamp_ms == -1
