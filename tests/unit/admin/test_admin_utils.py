"""Why a new topic is rejected."""

from __future__ import annotations

from unittest.mock import create_autospec

import pytest

from kafka_lite.admin.admin_utils import AdminUtils
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient


def refusal(topic: str, topics_a_moment_later: list[str]) -> ApiError:
    """Why the topic cannot be created if these topics exist at the second look, but not at the first."""
    zk_client = create_autospec(KafkaZkClient, instance=True)
    zk_client.is_topic_marked_for_deletion.return_value = False
    zk_client.topic_exists.return_value = False
    zk_client.get_all_topics.return_value = topics_a_moment_later
    with pytest.raises(ApiError) as raised:
        AdminUtils(zk_client).create_topic_with_assignment(topic, {0: [0]}, {})
    return raised.value


def test_topics_whose_metric_names_collide_are_rejected() -> None:
    error = refusal("a_b", ["a.b", "c"])
    assert error.error is Errors.INVALID_TOPIC_EXCEPTION
    assert "collides with existing topics: a.b" in str(error)


def test_a_topic_created_concurrently_does_not_collide_with_itself() -> None:
    assert refusal("a_b", ["a_b", "c"]).error is Errors.TOPIC_ALREADY_EXISTS
