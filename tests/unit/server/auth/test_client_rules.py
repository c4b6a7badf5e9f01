"""What producers and consumers may do, request by request."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.messages import (
    api_00_produce as produce,
)
from kafka_lite.protocol.messages import (
    api_03_metadata as metadata,
)
from kafka_lite.protocol.messages import (
    api_08_offset_commit as offset_commit,
)
from kafka_lite.protocol.messages import (
    api_09_offset_fetch as offset_fetch,
)
from kafka_lite.protocol.messages import (
    api_10_find_coordinator as find_coordinator,
)
from kafka_lite.protocol.messages import (
    api_14_sync_group as sync_group,
)
from kafka_lite.protocol.messages import (
    api_22_init_producer_id as init_producer_id,
)
from kafka_lite.protocol.messages import (
    api_24_add_partitions_to_txn as add_partitions,
)
from kafka_lite.protocol.messages import (
    api_60_describe_cluster as describe_cluster,
)
from kafka_lite.protocol.messages import (
    api_75_describe_topic_partitions as topic_pages,
)
from kafka_lite.server.auth.authorizing_handlers import fetch_rule
from tests.support.authorizing import CLUSTER_DENIED, GROUP_DENIED, TOPIC_DENIED, TXN_DENIED, Broker


def records(transactional: bool) -> bytes:
    batch = bytearray(61)
    batch[16], batch[22] = 2, 0x10 if transactional else 0
    return bytes(batch)


def produce_request(transactional_id: str | None = None, transactional: bool = False, acks: int = -1) -> Any:
    topics = [
        produce.TopicProduceData(
            name=name, partition_data=[produce.PartitionProduceData(index=0, records=records(transactional))]
        )
        for name in ("a", "b")
    ]
    return produce.ProduceRequest(transactional_id=transactional_id, acks=acks, topic_data=topics)


def produced(response: Any) -> dict[str, int]:
    return {each.name: each.partition_responses[0].error_code for each in response.responses}


def test_produce() -> None:
    broker = Broker("WRITE TOPIC a")
    assert produced(broker.ask(produce_request(), 9)) == {"b": TOPIC_DENIED}
    assert [[topic.name for topic in body.topic_data] for body in broker.handled] == [["a"]]
    assert produced(Broker().ask(produce_request(), 9)) == {"a": TOPIC_DENIED, "b": TOPIC_DENIED}


def test_produce_without_acks_ends_the_connection_if_a_topic_is_refused() -> None:
    for allowed in ([], ["WRITE TOPIC a"]):
        broker = Broker(*allowed)
        assert broker.ask(produce_request(acks=0), 9) is None
        assert len(broker.closed) == 1
        assert len(broker.handled) == len(allowed)


@pytest.mark.parametrize("transactional_id", [None, "t"])
def test_transactional_records_need_their_id(transactional_id: str | None) -> None:
    both = ["WRITE TOPIC a", "WRITE TOPIC b"]
    broker = Broker(*both)
    assert set(produced(broker.ask(produce_request(transactional_id, transactional=True), 9)).values()) == {TXN_DENIED}
    assert broker.handled == []
    assert broker.ask(produce_request(transactional_id, transactional=True, acks=0), 9) is None
    assert len(broker.closed) == 1
    allowed = Broker(*both, "WRITE TRANSACTIONAL_ID t")
    allowed.ask(produce_request(transactional_id, transactional=True), 9)
    assert len(allowed.handled) == (transactional_id is not None)


def test_fetch_asks_for_the_topics_of_a_session() -> None:
    broker = Broker("READ TOPIC a")
    request = broker.request(ApiKey.FETCH, 12, None)
    assert fetch_rule(broker.auth)(request, False, {"a", "b"}) == {"b"}
    assert fetch_rule(broker.auth)(request, True, {"a", "b"}) == {"a", "b"}
    assert fetch_rule(Broker("CLUSTER_ACTION CLUSTER kafka-cluster").auth)(request, True, {"a", "b"}) == set()


# ── Metadata


def topics(*names: str) -> list[metadata.MetadataRequestTopic]:
    return [metadata.MetadataRequestTopic(name=name) for name in names]


def described(response: Any) -> dict[str, int]:
    return {topic.name: topic.error_code for topic in response.topics}


def test_metadata_of_all_topics_leaves_out() -> None:
    answer = metadata.MetadataResponse(topics=[metadata.MetadataResponseTopic(name=name) for name in ("a", "b")])
    assert described(Broker("DESCRIBE TOPIC a").ask(metadata.MetadataRequest(topics=None), 9, answer)) == {"a": 0}


def test_metadata_of_named_topics_refuses() -> None:
    broker = Broker("DESCRIBE TOPIC a")
    assert described(broker.ask(metadata.MetadataRequest(topics=topics("a", "b")), 9)) == {"b": TOPIC_DENIED}
    assert [[topic.name for topic in body.topics] for body in broker.handled] == [["a"]]


def test_metadata_by_id_refuses_without_a_name() -> None:
    broker = Broker("DESCRIBE TOPIC a")
    by_id = [metadata.MetadataRequestTopic(name=None, topic_id=UUID(int=number)) for number in (1, 2, 77)]
    response = broker.ask(metadata.MetadataRequest(topics=[*by_id, *topics("c")]), 12)
    assert [(each.name, each.topic_id.int, each.error_code) for each in response.topics] == [(None, 2, TOPIC_DENIED)]
    assert [[topic.topic_id.int for topic in body.topics] for body in broker.handled] == [[1, 77]]


def test_metadata_by_id_is_the_handlers_to_refuse_before_version_12() -> None:
    broker = Broker("DESCRIBE TOPIC b")
    asked = [metadata.MetadataRequestTopic(name="b", topic_id=UUID(int=1))]
    assert described(broker.ask(metadata.MetadataRequest(topics=asked), 11)) == {}
    assert broker.handled[0].topics == asked


@pytest.mark.parametrize(
    ("allowed", "refused"),
    [([], {"new": TOPIC_DENIED}), (["CREATE TOPIC new"], {}), (["CREATE CLUSTER kafka-cluster"], {})],
)
def test_a_missing_topic_needs_the_right_to_create_it(allowed: list[str], refused: dict[str, int]) -> None:
    request = metadata.MetadataRequest(topics=topics("a", "new"), allow_auto_topic_creation=True)
    may_describe = ["DESCRIBE TOPIC a", "DESCRIBE TOPIC new"]
    assert described(Broker(*may_describe, *allowed).ask(request, 9)) == refused
    assert described(Broker(*may_describe, auto_create=False).ask(request, 9)) == {}


def test_authorized_operations_are_those_of_the_user() -> None:
    answer = metadata.MetadataResponse(topics=[metadata.MetadataResponseTopic(name="a")])
    request = metadata.MetadataRequest(
        topics=topics("a"), include_topic_authorized_operations=True, include_cluster_authorized_operations=True
    )
    broker = Broker("DESCRIBE TOPIC a", "READ TOPIC a")
    response = broker.ask(request, 9, answer)
    assert (response.topics[0].topic_authorized_operations, response.cluster_authorized_operations) == (
        1 << 8 | 1 << 3,
        0,
    )
    request = describe_cluster.DescribeClusterRequest(include_cluster_authorized_operations=True)
    cluster = "CLUSTER kafka-cluster"
    assert (
        Broker(f"DESCRIBE {cluster}", f"ALTER {cluster}").ask(request, 0).cluster_authorized_operations
        == 1 << 8 | 1 << 7
    )
    assert Broker(f"ALTER {cluster}").ask(request, 0).cluster_authorized_operations == 0


# ── Groups and offsets


def test_offset_commit() -> None:
    topic = offset_commit.OffsetCommitRequestTopic
    partition = offset_commit.OffsetCommitRequestPartition
    asked = [topic(name=name, partitions=[partition(partition_index=0)]) for name in ("a", "b")]
    body = offset_commit.OffsetCommitRequest(group_id="g", topics=asked)

    def errors(*allowed: str) -> dict[str, int]:
        return {each.name: each.partitions[0].error_code for each in Broker(*allowed).ask(body, 8).topics}

    assert errors("READ TOPIC a") == {"a": GROUP_DENIED, "b": GROUP_DENIED}
    assert errors("READ GROUP g", "READ TOPIC a") == {"b": TOPIC_DENIED}


def test_a_member_without_a_protocol_hears_of_that_before_its_rights() -> None:
    for protocol, refused in (({}, False), ({"protocol_type": "c"}, False), ({"protocol_name": "p"}, False),
                              ({"protocol_type": "c", "protocol_name": "p"}, True)):  # fmt: skip
        broker = Broker()
        body = sync_group.SyncGroupRequest(group_id="g", **protocol)
        response = broker.ask(body, 5, sync_group.SyncGroupResponse(error_code=7))
        assert (broker.handled, response.error_code) == (([], GROUP_DENIED) if refused else ([body], 7))
        assert broker.ask(body, 4).error_code == GROUP_DENIED


def test_offset_fetch_of_one_group() -> None:
    topic = offset_fetch.OffsetFetchRequestTopic
    body = offset_fetch.OffsetFetchRequest(
        group_id="g", topics=[topic(name=name, partition_indexes=[0]) for name in ("a", "b")]
    )
    assert Broker("DESCRIBE TOPIC a").ask(body, 7).error_code == GROUP_DENIED
    response = Broker("DESCRIBE GROUP g", "DESCRIBE TOPIC a").ask(body, 7)
    assert {each.name: each.partitions[0].error_code for each in response.topics} == {"b": TOPIC_DENIED}
    body.topics = None
    stored = [offset_fetch.OffsetFetchResponseTopic(name=name) for name in ("a", "b")]
    answer = offset_fetch.OffsetFetchResponse(topics=stored)
    response = Broker("DESCRIBE GROUP g", "DESCRIBE TOPIC a").ask(body, 7, answer)
    assert [each.name for each in response.topics] == ["a"]


def test_offset_fetch_of_several_groups() -> None:
    group, topic = offset_fetch.OffsetFetchRequestGroup, offset_fetch.OffsetFetchRequestTopics
    named = group(group_id="g", topics=[topic(name=name, partition_indexes=[0]) for name in ("a", "b")])
    body = offset_fetch.OffsetFetchRequest(groups=[named, group(group_id="all", topics=None), group(group_id="no")])
    found = offset_fetch.OffsetFetchResponseTopics
    answer = offset_fetch.OffsetFetchResponse(
        groups=[
            offset_fetch.OffsetFetchResponseGroup(group_id="g", topics=[found(name="a")]),
            offset_fetch.OffsetFetchResponseGroup(group_id="all", topics=[found(name="a"), found(name="b")]),
        ]
    )
    broker = Broker("DESCRIBE GROUP g", "DESCRIBE GROUP all", "DESCRIBE TOPIC a")
    response = broker.ask(body, 8, answer)
    (handled,) = broker.handled
    assert [(each.group_id, each.topics and [t.name for t in each.topics]) for each in handled.groups] == [
        ("g", ["a"]), ("all", None),
    ]  # fmt: skip
    groups = {each.group_id: each for each in response.groups}
    assert {each.name: [p.error_code for p in each.partitions] for each in groups["g"].topics} == {
        "a": [], "b": [TOPIC_DENIED],
    }  # fmt: skip
    assert [each.name for each in groups["all"].topics] == ["a"]
    assert groups["no"].error_code == GROUP_DENIED


def test_find_coordinator() -> None:
    one = find_coordinator.FindCoordinatorRequest(key="t", key_type=1)
    response = Broker().ask(one, 2)
    assert (response.error_code, response.node_id, response.port) == (TXN_DENIED, -1, -1)
    broker = Broker("DESCRIBE GROUP g")
    response = broker.ask(find_coordinator.FindCoordinatorRequest(coordinator_keys=["g", "h"]), 4)
    assert [(each.key, each.error_code) for each in response.coordinators] == [("h", GROUP_DENIED)]
    assert [body.coordinator_keys for body in broker.handled] == [["g"]]


# ── Transactions


def test_init_producer_id() -> None:
    without, with_id = (
        init_producer_id.InitProducerIdRequest(transactional_id=None),
        init_producer_id.InitProducerIdRequest(transactional_id="t"),
    )
    response = Broker().ask(without, 4)
    assert (response.error_code, response.producer_id, response.producer_epoch) == (CLUSTER_DENIED, -1, -1)
    assert Broker().ask(with_id, 4).error_code == TXN_DENIED
    for allowed, body in (
        ("WRITE TOPIC *", without), ("IDEMPOTENT_WRITE CLUSTER kafka-cluster", without),
        ("WRITE TRANSACTIONAL_ID t", with_id),
    ):  # fmt: skip
        assert Broker(allowed).ask(body, 4).error_code == 0


def test_add_partitions_is_all_or_nothing() -> None:
    topic = add_partitions.AddPartitionsToTxnTopic
    body = add_partitions.AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="t", v3_and_below_topics=[topic(name=name, partitions=[0]) for name in ("a", "b")]
    )

    def errors(*allowed: str) -> dict[str, int]:
        broker = Broker(*allowed)
        response = broker.ask(body, 3)
        found = response.results_by_topic_v3_and_below
        assert bool(broker.handled) is not bool(found)
        return {each.name: each.results_by_partition[0].partition_error_code for each in found}

    assert errors("WRITE TOPIC a", "WRITE TOPIC b") == {"a": TXN_DENIED, "b": TXN_DENIED}
    not_attempted = Errors.OPERATION_NOT_ATTEMPTED.code
    assert errors("WRITE TRANSACTIONAL_ID t", "WRITE TOPIC a") == {"a": not_attempted, "b": TOPIC_DENIED}
    assert errors("WRITE TRANSACTIONAL_ID t", "WRITE TOPIC a", "WRITE TOPIC b") == {}
    assert Broker().ask(add_partitions.AddPartitionsToTxnRequest(), 4).error_code == CLUSTER_DENIED


def pages(*names: str, cursor: str | None = None) -> topic_pages.DescribeTopicPartitionsRequest:
    place = None if cursor is None else topic_pages.Cursor(topic_name=cursor, partition_index=1)
    return topic_pages.DescribeTopicPartitionsRequest(
        topics=[topic_pages.TopicRequest(name=name) for name in names], cursor=place
    )


def test_pages_of_named_topics_refuse() -> None:
    broker = Broker("DESCRIBE TOPIC a")
    assert described(broker.ask(pages("a", "b"), 0)) == {"b": TOPIC_DENIED}
    assert [[topic.name for topic in body.topics] for body in broker.handled] == [["a"]]
    assert described(Broker().ask(pages("a", "b"), 0)) == {"a": TOPIC_DENIED, "b": TOPIC_DENIED}


def test_pages_of_all_topics_are_of_those_that_may_be_described() -> None:
    broker = Broker("DESCRIBE TOPIC a", "DESCRIBE TOPIC c")
    assert described(broker.ask(pages(), 0)) == {}
    assert described(broker.ask(pages(cursor="b"), 0)) == {}
    assert [[topic.name for topic in body.topics] for body in broker.handled] == [["a", "c"], ["c"]]
    assert [body.cursor for body in broker.handled] == [None, None], "that of a hidden topic is left out"


def test_a_page_has_the_operations_of_the_user() -> None:
    answer = topic_pages.DescribeTopicPartitionsResponse(
        topics=[topic_pages.DescribeTopicPartitionsResponseTopic(name="a")]
    )
    response = Broker("DESCRIBE TOPIC a", "READ TOPIC a").ask(pages("a"), 0, answer)
    assert response.topics[0].topic_authorized_operations == (1 << 3) | (1 << 8)


def test_a_cursor_that_is_not_valid_is_the_handlers_to_refuse() -> None:
    broker = Broker()
    asked = pages("a", cursor="b")
    broker.ask(asked, 0)
    assert broker.handled == [asked]
