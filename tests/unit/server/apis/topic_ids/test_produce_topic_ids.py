"""Produce 13, which names topics by their ids."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.protocol.messages import api_00_produce as produce
from kafka_lite.server.apis.topic_ids.produce_topic_ids import by_produce_topic_ids

KNOWN, ALSO_KNOWN, UNKNOWN = UUID(int=1), UUID(int=2), UUID(int=3)
NAMES = {KNOWN: "t", ALSO_KNOWN: "u"}


class Inner:
    """A handler that knows topics by name; partition 1 fails."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.closed: list[Any] = []
        self.responses: list[Any] = []
        topics = SimpleNamespace(topic_name=NAMES.get, topic_id=lambda _name: None)
        self.handler = by_produce_topic_ids(cast(Any, topics), self.closed.append, self.handle)

    def handle(self, _request: Any, body: Any, respond: Any) -> None:
        self.asked = [topic.name for topic in body.topic_data]
        topics = [
            produce.TopicProduceResponse(
                name=topic.name,
                partition_responses=[
                    produce.PartitionProduceResponse(index=each.index, error_code=each.index, base_offset=9)
                    for each in topic.partition_data
                ],
            )
            for topic in body.topic_data
        ]
        respond(None if body.acks == 0 else produce.ProduceResponse(responses=topics))

    def produce(self, *ids: UUID, version: int = 13, acks: int = 1) -> list[tuple[UUID, list[tuple[int, int]]]] | None:
        partitions = [produce.PartitionProduceData(index=index, records=b"") for index in (0, 1)]
        topics = [
            produce.TopicProduceData(topic_id=each, name="" if version > 12 else NAMES[each], partition_data=partitions)
            for each in ids
        ]
        body = produce.ProduceRequest(acks=acks, topic_data=topics)
        request = SimpleNamespace(header=SimpleNamespace(api_version=version))
        self.handler(cast(Any, request), body, self.responses.append)
        if not self.responses or self.responses[-1] is None:
            return None
        response = produce.ProduceResponse.decode(self.responses[-1].encode(version), version)
        return [
            (topic.topic_id, [(each.index, each.error_code) for each in topic.partition_responses])
            for topic in response.responses
        ]


@pytest.fixture
def inner() -> Inner:
    return Inner()


def test_ids_become_names_and_names_ids(inner: Inner) -> None:
    results = [(0, 0), (1, 1)]
    assert inner.produce(KNOWN, ALSO_KNOWN) == [(KNOWN, results), (ALSO_KNOWN, results)]
    assert inner.asked == ["t", "u"]


def test_records_for_an_unknown_id_are_refused_and_the_others_are_not(inner: Inner) -> None:
    error = Errors.UNKNOWN_TOPIC_ID.code
    assert inner.produce(UNKNOWN, KNOWN) == [(KNOWN, [(0, 0), (1, 1)]), (UNKNOWN, [(0, error), (1, error)])]
    assert inner.asked == ["t"]
    inner.asked = []
    assert inner.produce(UNKNOWN) == [(UNKNOWN, [(0, error), (1, error)])]
    assert not inner.asked


def test_without_a_response_an_unknown_id_ends_the_connection(inner: Inner) -> None:
    assert inner.produce(KNOWN, acks=0) is None
    assert (len(inner.responses), len(inner.closed)) == (1, 0)
    assert inner.produce(KNOWN, UNKNOWN, acks=0) is None
    assert (len(inner.responses), len(inner.closed)) == (1, 1)


def test_older_requests_have_names(inner: Inner) -> None:
    assert inner.produce(KNOWN, version=12) == [(UUID(int=0), [(0, 0), (1, 1)])]
    assert inner.asked == ["t"]
