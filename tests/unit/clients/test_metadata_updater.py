"""What the updater requests, and what it makes of responses."""

from __future__ import annotations

import logging
from uuid import UUID

import pytest

from kafka_lite.clients.metadata import Metadata
from kafka_lite.clients.metadata_updater import DefaultMetadataUpdater, cluster_of
from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_03_metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)


def answer(**errors: Errors) -> MetadataResponse:
    topics = [MetadataResponseTopic(name=name, error_code=error.code, partitions=[]) for name, error in errors.items()]
    return MetadataResponse(brokers=[MetadataResponseBroker(node_id=0, host="h", port=1)], topics=topics)


def test_refused_topics_are_logged_once_per_change(caplog: pytest.LogCaptureFixture) -> None:
    updater = DefaultMetadataUpdater(Metadata(), None, 50)  # type: ignore[arg-type]
    refused, invalid = Errors.TOPIC_AUTHORIZATION_FAILED, Errors.INVALID_TOPIC_EXCEPTION
    with caplog.at_level(logging.WARNING):
        for response in (
            answer(a=refused), answer(a=refused), answer(a=refused, b=invalid), answer(b=invalid),
            answer(a=Errors.NONE), answer(a=Errors.NONE), answer(a=refused),
        ):  # fmt: skip
            updater.handle_completed_metadata_response(response, 9, 0)
    assert [record.getMessage().partition(": ")[2] for record in caplog.records] == [
        "{'a': 'TOPIC_AUTHORIZATION_FAILED'}",
        "{'a': 'TOPIC_AUTHORIZATION_FAILED', 'b': 'INVALID_TOPIC_EXCEPTION'}",
        "{'b': 'INVALID_TOPIC_EXCEPTION'}",
        "{'a': 'TOPIC_AUTHORIZATION_FAILED'}",
    ]


def test_topics_that_the_broker_is_creating_are_no_reason_for_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    updater = DefaultMetadataUpdater(Metadata(), None, 50)  # type: ignore[arg-type]
    creating, invalid = Errors.LEADER_NOT_AVAILABLE, Errors.INVALID_TOPIC_EXCEPTION
    with caplog.at_level(logging.INFO):
        for response in (answer(a=creating), answer(a=creating, b=invalid)):
            updater.handle_completed_metadata_response(response, 9, 0)
    assert [record.levelname for record in caplog.records] == ["INFO", "WARNING"]


@pytest.mark.parametrize(("version", "known"), [(7, -1), (8, -1), (9, 5), (12, 5)])
def test_leader_epochs_of_brokers_before_2_4_are_not_trusted(version: int, known: int) -> None:
    partition = MetadataResponsePartition(leader_id=0, leader_epoch=5, replica_nodes=[0], isr_nodes=[0])
    response = answer()
    response.topics = [MetadataResponseTopic(name="t", partitions=[partition])]
    info = cluster_of(response, version).partition(TopicPartition("t", 0))
    assert info is not None
    assert info.leader_epoch == known


def test_the_ids_of_topics_are_known_where_they_have_one() -> None:
    response = answer()
    response.topics = [MetadataResponseTopic(name="t", topic_id=UUID(int=4)), MetadataResponseTopic(name="u")]
    assert cluster_of(response, 12).topic_ids == {"t": UUID(int=4)}


def test_a_response_without_brokers_is_ignored_and_the_backoff_starts() -> None:
    metadata = Metadata(100, 1000)
    metadata.request_update()
    DefaultMetadataUpdater(metadata, None, 50).handle_completed_metadata_response(  # type: ignore[arg-type]
        MetadataResponse(brokers=[], topics=[]), 9, 500
    )
    assert metadata.version == 0
    assert metadata.time_to_next_update(500) == 100


@pytest.mark.parametrize(("version", "allowed"), [(3, True), (4, False), (9, False)])
def test_topics_are_not_created_unless_allowed_or_the_version_cannot_say_so(version: int, allowed: bool) -> None:
    updater = DefaultMetadataUpdater(Metadata(allow_auto_topic_creation=False), None, 50)  # type: ignore[arg-type]
    request = updater._request().build(version)
    assert isinstance(request, MetadataRequest)
    assert request.allow_auto_topic_creation is allowed
