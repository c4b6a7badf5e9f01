"""The data of Kafka's znodes: compact JSON, as Kafka 0.10.2 and 3.9 write it.

Every class has ``encode`` (to bytes) and ``decode`` (from bytes; raises ZnodeDataError). Decoding is tolerant: unknown
keys are ignored, and null data (which container nodes have) is an error only where a value is required.

Kafka 0.10.2: core/.../utils/ZkUtils.scala (ClusterId), cluster/Broker.scala, core/.../api/LeaderAndIsr.scala,
core/.../controller/KafkaController.scala (LeaderIsrAndControllerEpoch); 3.9: core/.../zk/ZkData.scala · book 7.1.2
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kafka_lite.common.ids.uuids import decode_uuid, encode_uuid, random_uuid
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.zookeeper.znode_json import (
    ZnodeDataError,
    broker_ids,
    checked,
    checked_if_any,
    decode_json,
    encode_json,
    timestamp_ms_of,
)

NO_LEADER = -1
LEADER_DURING_DELETE = -2
INITIAL_LEADER_EPOCH = 0


# ---------------------------------------------------------------------------------------------- cluster and controller


@dataclass(frozen=True)
class ClusterId:
    """/cluster/id: ``{"version":"1","id":"bD0Yiy1wRTa4pzpWP2SG7g"}``: 16 random bytes in URL-safe base 64."""

    id: str

    @staticmethod
    def generate() -> ClusterId:
        """Generate an id."""
        return ClusterId(encode_uuid(random_uuid()))

    def encode(self) -> bytes:
        """Encode to bytes."""
        return encode_json({"version": "1", "id": self.id})

    @staticmethod
    def decode(data: bytes | None) -> ClusterId:
        """Decode from bytes."""
        return ClusterId(checked(decode_json(data, "/cluster/id"), "id", str, "/cluster/id"))


@dataclass(frozen=True)
class ControllerData:
    """/controller: ``{"version":1,"brokerid":1,"timestamp":"1795248311872"}``."""

    broker_id: int
    timestamp_ms: int

    def encode(self) -> bytes:
        """Encode to bytes."""
        return encode_json({"version": 1, "brokerid": self.broker_id, "timestamp": str(self.timestamp_ms)})

    @staticmethod
    def decode(data: bytes | None) -> ControllerData:
        """Decode from bytes; a bare number, as Kafka 0.8 wrote it, is accepted too."""
        if data is not None and data.isdigit():
            return ControllerData(decode_int(data, "/controller"), -1)
        value = decode_json(data, "/controller")
        broker_id = checked(value, "brokerid", int, "/controller")
        return ControllerData(broker_id, timestamp_ms_of(value))


def encode_int(value: int) -> bytes:
    """Encode a number as text: /controller_epoch and the offsets of old consumers."""
    return str(value).encode()


def decode_int(data: bytes | str | None, what: str) -> int:
    """Decode from bytes, or from the key of a JSON object. Raises ZnodeDataError."""
    try:
        return int(data or b"")
    except ValueError as error:
        raise ZnodeDataError(f"{what}: not a number: {data!r}") from error


# ------------------------------------------------------------------------------------------------------------- brokers


class SupportedLevels(NamedTuple):
    """The levels of a feature that a broker supports. Every broker supports level 0, at which the feature is off."""

    min_version: int
    max_version: int

    def contains(self, level: int) -> bool:
        """Whether the broker can work with this level."""
        return level == 0 or self.min_version <= level <= self.max_version


@dataclass(frozen=True)
class BrokerRegistration:
    """/brokers/ids/N, version 5 (``inter.broker.protocol.version`` from 2.7 on), 4 (from 0.10.0-IV1 on) or 2 (before).

    ``{"listener_security_protocol_map":{"PLAINTEXT":"PLAINTEXT"},"endpoints":["PLAINTEXT://127.0.0.1:9092"],
    "rack":"r1","jmx_port":-1,"host":"127.0.0.1","timestamp":"1795248312128","port":9092,"version":4}``

    ``host`` and ``port`` repeat the first PLAINTEXT end point for clients of 0.8, or are null and -1 without one.
    Version 5 adds the supported features: ``"features":{"group.version":{"min_version":1,"max_version":1}}``.
    """

    endpoints: tuple[str, ...]
    listener_security_protocol_map: Mapping[str, str] = field(default_factory=dict)
    rack: str | None = None
    host: str | None = None
    port: int = -1
    jmx_port: int = -1
    timestamp_ms: int = -1
    version: int = 4
    features: Mapping[str, SupportedLevels] = field(default_factory=dict)

    def encode(self) -> bytes:
        """Encode to bytes."""
        value: dict[str, object] = {}
        if self.version >= 5:
            value["features"] = {name: levels._asdict() for name, levels in self.features.items()}
        if self.version >= 4:
            value["listener_security_protocol_map"] = dict(self.listener_security_protocol_map)
        value["endpoints"] = list(self.endpoints)
        if self.rack is not None and self.version >= 3:
            value["rack"] = self.rack
        value |= {"jmx_port": self.jmx_port, "host": self.host, "timestamp": str(self.timestamp_ms)}
        value |= {"port": self.port, "version": self.version}
        return encode_json(value)

    @staticmethod
    def decode(data: bytes | None) -> BrokerRegistration:
        """Decode from bytes, any version: 1 has only host and port."""
        what = "/brokers/ids"
        value = decode_json(data, what)
        version = value.get("version", 1)
        host, port = value.get("host"), value.get("port", -1)
        protocols = checked_if_any(value, "listener_security_protocol_map", dict, what) or {}
        if version == 1:
            endpoints = [f"PLAINTEXT://{checked(value, 'host', str, what)}:{checked(value, 'port', int, what)}"]
        else:
            endpoints = checked(value, "endpoints", list, what)
        return BrokerRegistration(
            endpoints=tuple(str(endpoint) for endpoint in endpoints),
            listener_security_protocol_map={name: checked(protocols, name, str, what) for name in protocols},
            rack=checked_if_any(value, "rack", str, what),
            host=host,
            port=port,
            jmx_port=value.get("jmx_port", -1),
            timestamp_ms=timestamp_ms_of(value),
            version=version,
            features=_decode_features(checked_if_any(value, "features", dict, what) or {}, what),
        )


def _decode_features(features: Mapping[str, Any], what: str) -> dict[str, SupportedLevels]:
    levels = {name: checked(features, name, dict, what) for name in features}
    return {
        name: SupportedLevels(checked(each, "min_version", int, what), checked(each, "max_version", int, what))
        for name, each in levels.items()
    }


# -------------------------------------------------------------------------------------------------------------- topics


@dataclass(frozen=True)
class ProducerIdsBlock:
    """/latest_producer_id_block: ``{"version":1,"broker":0,"block_start":"0","block_end":"999"}``.

    Kafka's brokers create the znode without data before they allocate the first block: the block before it is empty.
    """

    broker_id: int
    first_producer_id: int
    last_producer_id: int

    def encode(self) -> bytes:
        """Encode to bytes."""
        return encode_json({
            "version": 1,
            "broker": self.broker_id,
            "block_start": str(self.first_producer_id),
            "block_end": str(self.last_producer_id),
        })  # fmt: skip

    @staticmethod
    def decode(data: bytes | None) -> ProducerIdsBlock:
        """Decode from bytes."""
        if data is None:
            return ProducerIdsBlock(-1, 0, -1)
        what = "/latest_producer_id_block"
        value = decode_json(data, what)
        first, last = (checked(value, key, str, what) for key in ("block_start", "block_end"))
        if not (first.isdecimal() and last.isdecimal()):
            raise ZnodeDataError(f"{what}: not producer ids: {data!r}")
        return ProducerIdsBlock(checked(value, "broker", int, what), decode_int(first, what), decode_int(last, what))


def _decode_topic_id(text: str) -> uuid.UUID:
    try:
        return decode_uuid(text)
    except ValueError as error:
        raise ZnodeDataError(f"not a topic id: {text!r}") from error


@dataclass(frozen=True)
class TopicAssignment:
    """/brokers/topics/T: ``{"version":1,"partitions":{"0":[2,3,1],"1":[3,1,2]}}``.

    Version 2 (Kafka 2.4) adds ``adding_replicas`` and ``removing_replicas`` of the partitions that are being
    reassigned, version 3 (2.8) ``topic_id``, which tells a topic from an earlier one of its name. It is written when
    the topic is created, or by the first controller that finds none, and kept from then on. Older brokers ignore what
    they do not know, and lose it when they write the node.
    """

    partitions: Mapping[int, list[int]]
    topic_id: uuid.UUID | None = None
    adding_replicas: Mapping[int, list[int]] = field(default_factory=dict)
    removing_replicas: Mapping[int, list[int]] = field(default_factory=dict)

    def encode(self) -> bytes:
        """Encode to bytes: version 3 with a topic id, 2 during a reassignment, otherwise 1."""
        partitions = _encode_replicas(self.partitions)
        changes = {
            "adding_replicas": _encode_replicas(self.adding_replicas),
            "removing_replicas": _encode_replicas(self.removing_replicas),
        }
        if self.topic_id is not None:
            topic_id = encode_uuid(self.topic_id)
            return encode_json({"partitions": partitions, "topic_id": topic_id, **changes, "version": 3})
        if self.adding_replicas or self.removing_replicas:
            return encode_json({"version": 2, "partitions": partitions, **changes})
        return encode_json({"version": 1, "partitions": partitions})

    @staticmethod
    def decode(data: bytes | None, topic: str = "") -> TopicAssignment:
        """Decode from bytes, version 1 to 3."""
        what = f"/brokers/topics/{topic}"
        value = decode_json(data, what)
        topic_id = checked_if_any(value, "topic_id", str, what)
        return TopicAssignment(
            _decode_replicas(checked(value, "partitions", dict, what), what),
            _decode_topic_id(topic_id) if topic_id else None,
            _decode_replicas(checked_if_any(value, "adding_replicas", dict, what) or {}, what),
            _decode_replicas(checked_if_any(value, "removing_replicas", dict, what) or {}, what),
        )


def _encode_replicas(partitions: Mapping[int, list[int]]) -> dict[str, list[int]]:
    return {str(partition): replicas for partition, replicas in partitions.items()}


def _decode_replicas(partitions: Mapping[str, Any], what: str) -> dict[int, list[int]]:
    numbers = {decode_int(key, what): broker_ids(replicas, what) for key, replicas in partitions.items()}
    return dict(sorted(numbers.items()))


@dataclass(frozen=True)
class LeaderAndIsr:
    """A partition's leader and ISR. ``zk_version`` is the version of the ``state`` node they were read from."""

    leader: int
    isr: list[int]
    leader_epoch: int = INITIAL_LEADER_EPOCH
    zk_version: int = 0


@dataclass(frozen=True)
class LeaderIsrAndControllerEpoch:
    """/brokers/topics/T/partitions/P/state.

    ``{"controller_epoch":2,"leader":2,"version":1,"leader_epoch":0,"isr":[2,3,1]}``

    The epoch of the controller that wrote it fences old controllers; a leader writes the epoch it last received.
    """

    leader_and_isr: LeaderAndIsr
    controller_epoch: int

    def __str__(self) -> str:
        state = self.leader_and_isr
        isr = ",".join(map(str, state.isr))
        epochs = f"LeaderEpoch:{state.leader_epoch},ControllerEpoch:{self.controller_epoch}"
        return f"(Leader:{state.leader},ISR:{isr},{epochs})"

    def encode(self) -> bytes:
        """Encode to bytes, without zk_version."""
        state = self.leader_and_isr
        return encode_json(
            {
                "controller_epoch": self.controller_epoch,
                "leader": state.leader,
                "version": 1,
                "leader_epoch": state.leader_epoch,
                "isr": state.isr,
            }
        )

    @staticmethod
    def decode(data: bytes | None, zk_version: int = 0, what: str = "state") -> LeaderIsrAndControllerEpoch:
        """Decode from bytes and the node's version."""
        value = decode_json(data, what)
        isr = broker_ids(checked(value, "isr", list, what), what)
        leader, epoch = checked(value, "leader", int, what), checked(value, "leader_epoch", int, what)
        controller_epoch = checked(value, "controller_epoch", int, what)
        return LeaderIsrAndControllerEpoch(LeaderAndIsr(leader, isr, epoch, zk_version), controller_epoch)


def encode_partitions(partitions: Iterable[TopicPartition]) -> bytes:
    """Encode ISR change notifications and /admin/preferred_replica_election.

    ``{"version":1,"partitions":[{"topic":"g9","partition":0},{"topic":"f9","partition":0}]}``
    """
    entries = [{"topic": tp.topic, "partition": tp.partition} for tp in partitions]
    return encode_json({"version": 1, "partitions": entries})


def decode_partitions(data: bytes | None, what: str) -> list[TopicPartition]:
    """Decode from bytes."""
    return [_decode_partition(entry, what) for entry in _decode_entries(data, what)]


def _decode_entries(data: bytes | None, what: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = checked(decode_json(data, what), "partitions", list, what)
    if not all(isinstance(entry, dict) for entry in entries):
        raise ZnodeDataError(f"{what}: must be a list of partitions, not {entries!r}")
    return entries


def _decode_partition(entry: Mapping[str, Any], what: str) -> TopicPartition:
    return TopicPartition(checked(entry, "topic", str, what), checked(entry, "partition", int, what))


def encode_reassignment(partitions: Mapping[TopicPartition, list[int]]) -> bytes:
    """/admin/reassign_partitions: ``{"version":1,"partitions":[{"topic":"g9","partition":0,"replicas":[9,1]}]}``."""
    entries = [
        {"topic": tp.topic, "partition": tp.partition, "replicas": replicas} for tp, replicas in partitions.items()
    ]
    return encode_json({"version": 1, "partitions": entries})


def decode_reassignment(data: bytes | None) -> dict[TopicPartition, list[int]]:
    """Decode from bytes."""
    what = "/admin/reassign_partitions"
    entries = _decode_entries(data, what)
    return {_decode_partition(entry, what): broker_ids(entry.get("replicas"), what) for entry in entries}


# ------------------------------------------------------------------------------------------------------ configurations


def encode_config(config: Mapping[str, str]) -> bytes:
    """/config/<type>/<name>: ``{"version":1,"config":{"cleanup.policy":"compact"}}``; all values are strings."""
    return encode_json({"version": 1, "config": dict(config)})


def decode_config(data: bytes | None, what: str) -> dict[str, str]:
    """Decode from bytes; a node without data has no overrides."""
    if not data:
        return {}
    return {str(key): str(value) for key, value in checked(decode_json(data, what), "config", dict, what).items()}


@dataclass(frozen=True)
class ConfigChange:
    """/config/changes/config_change_N: ``{"version":2,"entity_path":"topics/t3"}``.

    Version 1 (until 0.9) has ``entity_type`` and ``entity_name`` instead, and knows topics and clients only.
    """

    entity_path: str

    def encode(self) -> bytes:
        """Encode to bytes, version 2."""
        return encode_json({"version": 2, "entity_path": self.entity_path})

    @staticmethod
    def decode(data: bytes | None) -> ConfigChange:
        """Decode from bytes, version 1 or 2. Raises ZnodeDataError."""
        what = "/config/changes"
        value = decode_json(data, what)
        match checked(value, "version", int, what):
            case 1:
                kind, name = checked(value, "entity_type", str, what), checked(value, "entity_name", str, what)
                if kind not in ("topics", "clients"):
                    raise ZnodeDataError(f"{what}: 'entity_type' of version 1 must be topics or clients, not {kind!r}")
                return ConfigChange(f"{kind}/{name}")
            case 2:
                return ConfigChange(checked(value, "entity_path", str, what))
            case version:
                raise ZnodeDataError(f"{what}: version {version} is not supported")


# ------------------------------------------------------------------------------------------------------- old consumers


@dataclass(frozen=True)
class ConsumerRegistration:
    """/consumers/G/ids/M: ``{"version":1,"subscription":{"t3":1},"pattern":"white_list","timestamp":"1795249605838"}``.

    ``subscription`` maps topics (or, with the patterns ``white_list`` and ``black_list``, regular expressions) to
    numbers of threads.
    """

    subscription: Mapping[str, int]
    pattern: str
    timestamp_ms: int

    def encode(self) -> bytes:
        """Encode to bytes."""
        subscription, timestamp = dict(self.subscription), str(self.timestamp_ms)
        value = {"version": 1, "subscription": subscription, "pattern": self.pattern, "timestamp": timestamp}
        return encode_json(value)

    @staticmethod
    def decode(data: bytes | None) -> ConsumerRegistration:
        """Decode from bytes."""
        what = "/consumers/…/ids"
        value = decode_json(data, what)
        topics = checked(value, "subscription", dict, what)
        subscription = {topic: checked(topics, topic, int, what) for topic in topics}
        return ConsumerRegistration(subscription, str(value.get("pattern", "static")), timestamp_ms_of(value))
