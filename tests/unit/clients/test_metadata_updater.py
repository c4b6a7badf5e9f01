"""The updater's warnings about topics with errors."""

from __future__ import annotations

import logging

import pytest

from kafka_lite.clients.metadata import Metadata
from kafka_lite.clients.metadata_updater import DefaultMetadataUpdater, cluster_of
from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_03_metadata import (
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
