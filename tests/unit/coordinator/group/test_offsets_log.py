"""The log as a coordinator sees it: when it may be loaded, and what a refused append means to members."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_names import GROUP_METADATA_TOPIC_NAME
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.offsets_log import COMMIT_ERRORS, GROUP_ERRORS, uncommitted_end
from tests.support.groups import Groups

PARTITION = TopicPartition(GROUP_METADATA_TOPIC_NAME, 0)


def test_a_log_is_loaded_once_replicas_have_followed() -> None:
    groups = Groups()
    groups.offsets_log.log(PARTITION).log_end_offset = 9
    groups.offsets_log.high_watermark = 5
    assert uncommitted_end(groups.offsets_log, PARTITION) == 9
    groups.offsets_log.log(PARTITION).log_end_offset = 12
    groups.offsets_log.high_watermark = 9
    assert uncommitted_end(groups.offsets_log, PARTITION, 9) is None, "later records are this coordinator's own"
    assert uncommitted_end(groups.offsets_log, PARTITION) == 12


def test_a_log_that_another_broker_leads_is_not_awaited() -> None:
    groups = Groups()
    groups.offsets_log.leads = False
    assert uncommitted_end(groups.offsets_log, PARTITION) is None


@pytest.mark.parametrize(
    ("refused", "of_commit", "of_group"),
    [
        (Errors.NOT_ENOUGH_REPLICAS, Errors.COORDINATOR_NOT_AVAILABLE, Errors.COORDINATOR_NOT_AVAILABLE),
        (Errors.NOT_LEADER_OR_FOLLOWER, Errors.NOT_COORDINATOR, Errors.NOT_COORDINATOR),
        (Errors.MESSAGE_TOO_LARGE, Errors.INVALID_COMMIT_OFFSET_SIZE, Errors.UNKNOWN_SERVER_ERROR),
        (Errors.REQUEST_TIMED_OUT, None, Errors.REBALANCE_IN_PROGRESS),
    ],
)
def test_a_member_gets_an_error_that_tells_it_what_to_do(
    refused: Errors, of_commit: Errors | None, of_group: Errors
) -> None:
    assert (COMMIT_ERRORS.get(refused), GROUP_ERRORS.get(refused)) == (of_commit, of_group)
