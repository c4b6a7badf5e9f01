"""Our codecs compared with Kafka's own, byte for byte: every API and version, in both directions.

``KafkaCodec.java`` has the classes of kafka-clients decode what we encode, encode it again, and print the decoded
values as JSON.
"""

from __future__ import annotations

import base64
import json
import random
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.protocol.api_keys import API_SPECS, ApiKey, ApiSpec
from kafka_lite.protocol.messages import share_group_records
from kafka_lite.protocol.messages.api_74_list_config_resources import ListConfigResourcesResponse
from kafka_lite.protocol.messages.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from kafka_lite.protocol.messages.group_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from kafka_lite.protocol.messages.transaction_records import TransactionLogKey, TransactionLogValue
from kafka_lite.protocol.schema import Message, Request, Struct
from kafka_lite.protocol.schema_error import SchemaError
from tests.support.jvm import classpath, compile_java, run_java
from tests.support.messages import MESSAGES, random_message, versions

pytestmark = pytest.mark.jvm

SAMPLES = 6
JACKSON = "com.fasterxml.jackson.core:jackson-databind:2.16.2"
REMOVED_IN_4 = {"LEADER_AND_ISR", "STOP_REPLICA", "UPDATE_METADATA", "CONTROLLED_SHUTDOWN"}
LATER_THAN_3_9 = {
    (ApiKey.OFFSET_COMMIT, 10),
    (ApiKey.OFFSET_FETCH, 10),
    (ApiKey.LIST_OFFSETS, 10),
    (ApiKey.DESCRIBE_GROUPS, 6),
    (ApiKey.ALTER_PARTITION_REASSIGNMENTS, 1),
    (ApiKey.LIST_TRANSACTIONS, 2),
    (ApiKey.METADATA, 13),
    (ApiKey.DESCRIBE_CLUSTER, 2),
    (ApiKey.LIST_CONFIG_RESOURCES, 1),
    (ApiKey.CONSUMER_GROUP_HEARTBEAT, 1),
    (ApiKey.CONSUMER_GROUP_DESCRIBE, 1),
    (ApiKey.SHARE_GROUP_HEARTBEAT, 1),
    (ApiKey.SHARE_GROUP_DESCRIBE, 1),
    (ApiKey.SHARE_FETCH, 1),
    (ApiKey.SHARE_ACKNOWLEDGE, 1),
    (ApiKey.READ_SHARE_GROUP_STATE_SUMMARY, 0),
    (ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, 0),
    (ApiKey.ALTER_SHARE_GROUP_OFFSETS, 0),
    (ApiKey.DELETE_SHARE_GROUP_OFFSETS, 0),
    (ApiKey.PRODUCE, 12),
    (ApiKey.PRODUCE, 13),
    (ApiKey.END_TXN, 5),
    (ApiKey.TXN_OFFSET_COMMIT, 5),
    (ApiKey.UPDATE_FEATURES, 2),
}

NOT_OF_AN_API: list[tuple[str, str, list[type[Message]]]] = [
    ("kafka-clients:3.9.1", "common.message", [ConsumerProtocolSubscription, ConsumerProtocolAssignment]),
    ("kafka-group-coordinator:3.9.1", "coordinator.group.generated", [OffsetCommitKey, OffsetCommitValue]),
    ("kafka-group-coordinator:3.9.1", "coordinator.group.generated", [GroupMetadataKey, GroupMetadataValue]),
    (
        "kafka-group-coordinator:4.1.0",
        "coordinator.group.generated",
        [
            share_group_records.ShareGroupMemberMetadataValue,
            share_group_records.ShareGroupMetadataValue,
            share_group_records.ShareGroupTargetAssignmentMetadataValue,
            share_group_records.ShareGroupTargetAssignmentMemberValue,
            share_group_records.ShareGroupCurrentMemberAssignmentValue,
            share_group_records.ShareGroupStatePartitionMetadataValue,
        ],
    ),
    (
        "kafka-transaction-coordinator:4.1.0",
        "coordinator.transaction.generated",
        [TransactionLogKey, TransactionLogValue],
    ),
]
"""Jar, package and messages; the tagged fields of TransactionLogValue are of Kafka 4."""

Ask = Callable[[list[str]], list[str]]


@pytest.fixture(scope="module", params=["3.9.1", "4.1.0"])
def kafka_version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def ask(kafka_version: str) -> Ask:
    """Sends questions to KafkaCodec, returns its responses."""
    return codec_of(f"org.apache.kafka:kafka-clients:{kafka_version}")


def codec_of(*coordinates: str) -> Ask:
    jars = classpath(*coordinates, JACKSON)
    classes = compile_java(Path(__file__).with_name("KafkaCodec.java"), jars)

    def answers(questions: list[str]) -> list[str]:
        done = run_java("KafkaCodec", classpath=[classes, *jars], stdin="".join(f"{line}\n" for line in questions))
        lines = done.stdout.splitlines()
        assert len(lines) == len(questions)
        return lines

    return answers


def test_kafka_and_we_read_and_write_the_same_bytes(ask: Ask, kafka_version: str) -> None:
    cases = [
        (message, version, random_message(message, version, random.Random(f"{message.__name__} {version} {sample}")))
        for message in MESSAGES
        for version in versions(message)
        for sample in range(SAMPLES)
    ]
    encoded = [message.encode(version) for _, version, message in cases]
    answers = ask([f"recode {where(case[0], case[1])} {data.hex()}" for case, data in zip(cases, encoded, strict=True)])
    compared = set()
    for (message_class, version, message), data, answer in zip(cases, encoded, answers, strict=True):
        key = message_class.API_KEY  # type: ignore[attr-defined]
        if answer == "unsupported" or (kafka_version == "3.9.1" and (key, version) in LATER_THAN_3_9):
            continue  # of those, 3.9.1 may have an early version with other fields
        assert not answer.startswith("error"), f"{message_class.__name__} v{version}: {answer}"
        recoded, _, values = answer.partition("\t")
        assert recoded == data.hex(), f"{message_class.__name__} v{version}"
        assert_same_values(message, version, json.loads(with_todays_names(message_class, values)))
        compared.add((key, version))
    everything = {(key, version) for key, spec in API_SPECS.items() for version in spec_versions(spec)}
    left_out = everything - compared
    if kafka_version == "3.9.1":
        assert left_out == LATER_THAN_3_9
    else:
        # Kafka 4 has dropped the oldest versions of some APIs and all versions of four, and none in between.
        assert {key.name for key, version in left_out if version == API_SPECS[key].max_version} == REMOVED_IN_4


def test_the_defaults_match_kafka(ask: Ask) -> None:
    cases = [(message, version) for message in MESSAGES for version in versions(message)]
    answers = ask([f"default {where(message, version)}" for message, version in cases])
    assert sum(answer != "unsupported" for answer in answers) > 400
    for (message, version), answer in zip(cases, answers, strict=True):
        if answer != "unsupported":
            assert answer == message().encode(version).hex(), f"{message.__name__} v{version}"


def test_fields_unknown_to_a_version_are_dropped_or_rejected_as_by_kafka(ask: Ask) -> None:
    """Messages of the highest version, mostly with defaults, are encoded in all lower versions."""
    cases: list[tuple[int, Message]] = []
    for message in MESSAGES:
        rng = random.Random(message.__name__)
        highest = message.VERSIONS.highest
        targets = 8 * list(versions(message))
        cases += [(version, random_message(message, highest, rng, defaults=0.75)) for version in targets]
    questions = []
    for version, message in cases:
        highest = message.VERSIONS.highest
        key, _, direction = where(type(message), version).split()
        questions.append(f"convert {key} {highest} {version} {direction} {message.encode(highest).hex()}")
    refused = 0
    for (version, message), answer in zip(cases, ask(questions), strict=True):
        if answer != "unsupported":
            refused += answer.startswith("error")
            assert outcome(message, version) == answer.partition(" ")[0], f"{message} v{version}: {answer}"
    assert 50 < refused < len(cases) / 2


def test_the_headers_match_kafka(ask: Ask) -> None:
    cases = [(spec, version) for spec in API_SPECS.values() for version in spec_versions(spec)]
    answers = ask([f"headers {spec.key} {version}" for spec, version in cases])
    assert sum(answer != "unsupported" for answer in answers) > 200
    for (spec, version), answer in zip(cases, answers, strict=True):
        if answer != "unsupported":
            ours = f"{spec.request_header_version(version)} {spec.response_header_version(version)}"
            assert answer == ours, f"{spec.key.name} v{version}"


@pytest.mark.parametrize(("jar", "package", "messages"), NOT_OF_AN_API)
def test_messages_outside_of_apis_match_kafka(jar: str, package: str, messages: list[type[Message]]) -> None:
    cases = [
        (f"org.apache.kafka.{package}.{message.__name__}", version, random_message(message, version, random.Random(n)))
        for message in messages
        for version in versions(message)
        for n in range(SAMPLES)
    ]
    questions = [f"data {name} {version} {made.encode(version).hex()}" for name, version, made in cases]
    for (name, version, made), answer in zip(cases, codec_of(f"org.apache.kafka:{jar}")(questions), strict=True):
        assert not answer.startswith("error"), f"{name} v{version}: {answer}"
        recoded, _, values = answer.partition("\t")
        assert recoded == made.encode(version).hex(), f"{name} v{version}"
        assert_same_values(made, version, json.loads(values))


def where(message: type[Message], version: int) -> str:
    """``KEY VERSION DIRECTION`` of a message."""
    direction = "request" if issubclass(message, Request) else "response"
    return f"{int(message.API_KEY)} {version} {direction}"  # type: ignore[attr-defined]


def spec_versions(spec: ApiSpec) -> range:
    return range(spec.min_version, spec.max_version + 1)


def outcome(message: Message, version: int) -> str:
    """Our bytes in hex, or "error"."""
    try:
        return message.encode(version).hex()
    except SchemaError:
        return "error"


def with_todays_names(message_class: type[Message], values: str) -> str:
    """ListConfigResources and its fields had other names before Kafka 4.1, and the same bytes."""
    if message_class is ListConfigResourcesResponse:
        values = values.replace('"clientMetricsResources"', '"configResources"').replace('"name"', '"resourceName"')
    return values


def assert_same_values(message: Any, version: int, kafka: dict[str, Any]) -> None:
    """Kafka's JSON of a struct has the values of its fields; tagged fields with their default are missing there."""
    theirs = {snake_case(name): value for name, value in kafka.items()}
    expected = [field for field in message.FIELDS if version in field.versions]
    for field in expected:
        value = getattr(message, field.name)
        if "records_size_in_bytes" in theirs and field.name == "records":
            assert theirs.pop("records_size_in_bytes") == len(value)
        elif field.name not in theirs:
            assert version in field.tagged
            assert value == field.new_default()
        else:
            assert_same_value(value, version, theirs.pop(field.name))
    assert not theirs


def assert_same_value(ours: Any, version: int, theirs: Any) -> None:
    if isinstance(ours, Struct):
        assert_same_values(ours, version, theirs)
    elif isinstance(ours, list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_same_value(one, version, other)
    elif isinstance(ours, bytes):
        assert ours == base64.b64decode(theirs)
    elif isinstance(ours, uuid.UUID):
        assert ours.bytes == base64.urlsafe_b64decode(theirs + "==")
    else:
        assert ours == theirs


def snake_case(name: str) -> str:
    """``isKRaftController`` -> ``is_kraft_controller``, as Kafka's own generator names fields."""
    pairs = zip(f" {name}", name, strict=False)
    return "".join(f"_{char.lower()}" if char.isupper() > before.isupper() else char.lower() for before, char in pairs)
