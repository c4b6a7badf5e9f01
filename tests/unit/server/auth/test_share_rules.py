"""Who may describe, alter and delete the offsets of share groups."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.messages import api_90_describe_share_group_offsets as describe
from kafka_lite.protocol.messages import api_91_alter_share_group_offsets as alter
from kafka_lite.protocol.messages import api_92_delete_share_group_offsets as delete
from tests.support.authorizing import GROUP_DENIED, TOPIC_DENIED, Broker


def describing(**groups: list[str] | None) -> describe.DescribeShareGroupOffsetsRequest:
    def topics(names: list[str] | None) -> list[describe.DescribeShareGroupOffsetsRequestTopic] | None:
        if names is None:
            return None
        return [describe.DescribeShareGroupOffsetsRequestTopic(topic_name=name, partitions=[0]) for name in names]

    return describe.DescribeShareGroupOffsetsRequest(
        groups=[
            describe.DescribeShareGroupOffsetsRequestGroup(group_id=group, topics=topics(names))
            for group, names in groups.items()
        ]
    )


def described(**groups: list[str]) -> describe.DescribeShareGroupOffsetsResponse:
    def topic(name: str) -> describe.DescribeShareGroupOffsetsResponseTopic:
        partition = describe.DescribeShareGroupOffsetsResponsePartition(start_offset=5)
        return describe.DescribeShareGroupOffsetsResponseTopic(topic_name=name, partitions=[partition])

    return describe.DescribeShareGroupOffsetsResponse(
        groups=[
            describe.DescribeShareGroupOffsetsResponseGroup(group_id=group, topics=[topic(name) for name in names])
            for group, names in groups.items()
        ]
    )


def outcome(response: Any) -> list[tuple[str, int, list[tuple[str, int]]]]:
    return [
        (group.group_id, group.error_code, [(t.topic_name, t.partitions[0].error_code) for t in group.topics])
        for group in response.groups
    ]


def test_groups_that_may_not_be_described_are_refused_in_their_place() -> None:
    broker = Broker("DESCRIBE GROUP b", "DESCRIBE TOPIC t")
    response = broker.ask(describing(a=["t"], b=["t"], c=None), 0, described(b=["t"]))
    assert outcome(response) == [("a", GROUP_DENIED, []), ("b", 0, [("t", 0)]), ("c", GROUP_DENIED, [])]
    (body,) = broker.handled
    assert [group.group_id for group in body.groups] == ["b"]


def test_topics_that_are_asked_for_are_refused() -> None:
    broker = Broker("DESCRIBE GROUP a", "DESCRIBE TOPIC t")
    response = broker.ask(describing(a=["u", "t"]), 0, described(a=["t"]))
    assert outcome(response) == [("a", 0, [("t", 0), ("u", TOPIC_DENIED)])]
    assert response.groups[0].topics[1].partitions[0].start_offset == -1
    assert [topic.topic_name for topic in broker.handled[0].groups[0].topics] == ["t"]


def test_of_all_topics_those_that_may_not_be_described_are_left_out() -> None:
    broker = Broker("DESCRIBE GROUP a", "DESCRIBE TOPIC t")
    assert outcome(broker.ask(describing(a=None), 0, described(a=["t", "u"]))) == [("a", 0, [("t", 0)])]


def altering() -> Any:
    return alter.AlterShareGroupOffsetsRequest(
        group_id="g",
        topics=[
            alter.AlterShareGroupOffsetsRequestTopic(
                topic_name=name, partitions=[alter.AlterShareGroupOffsetsRequestPartition(partition_index=3)]
            )
            for name in "tu"
        ],
    )


def deleting() -> Any:
    return delete.DeleteShareGroupOffsetsRequest(
        group_id="g", topics=[delete.DeleteShareGroupOffsetsRequestTopic(topic_name=name) for name in "tu"]
    )


@pytest.mark.parametrize(("make", "operation"), [(altering, "READ"), (deleting, "DELETE")])
def test_groups_need_a_right_and_topics_another(make: Any, operation: str) -> None:
    refused = Broker("READ TOPIC t", "READ TOPIC u")
    assert refused.ask(make(), 0).error_code == GROUP_DENIED
    assert not refused.handled

    allowed = Broker(f"{operation} GROUP g", "READ TOPIC t", "READ TOPIC u")
    allowed.ask(make(), 0)
    assert allowed.handled == [make()]

    partly = Broker(f"{operation} GROUP g", "READ TOPIC t")
    response = partly.ask(make(), 0)
    assert [topic.topic_name for topic in partly.handled[0].topics] == ["t"]
    (topic,) = response.responses
    assert topic.topic_name == "u"
    errors = [each.error_code for each in getattr(topic, "partitions", [topic])]
    assert errors == [TOPIC_DENIED]


@pytest.mark.parametrize("make", [altering, deleting])
def test_an_error_of_the_group_hides_what_was_refused(make: Any) -> None:
    broker = Broker("READ GROUP g", "DELETE GROUP g", "READ TOPIC t")
    kind = alter.AlterShareGroupOffsetsResponse if make is altering else delete.DeleteShareGroupOffsetsResponse
    response = broker.ask(make(), 0, kind(error_code=Errors.NON_EMPTY_GROUP.code))
    assert (response.error_code, response.responses) == (Errors.NON_EMPTY_GROUP.code, [])
