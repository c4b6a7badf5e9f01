"""The offsets of share groups are described, altered and deleted."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.coordinator.group.modern.share.share_group_offsets import ShareGroupOffsets
from kafka_lite.coordinator.share.persister import SharePartitionKey
from kafka_lite.protocol.messages import api_90_describe_share_group_offsets as describe
from kafka_lite.protocol.messages import api_91_alter_share_group_offsets as alter
from kafka_lite.protocol.messages import api_92_delete_share_group_offsets as delete
from tests.support.groups import GROUP, FakeMember
from tests.support.modern_groups import FakeTopics, topic_id
from tests.support.share_groups import ShareGroups, ShareMember, joined

DescribedGroup = describe.DescribeShareGroupOffsetsResponseGroup
T, U = topic_id("t"), topic_id("u")
UNKNOWN = Errors.UNKNOWN_TOPIC_OR_PARTITION
Offsets = dict[str, dict[int, int]]


class Admin:
    """A group that has had a member, and who asks about its offsets."""

    def __init__(self, *, is_empty: bool = True) -> None:
        self.groups = ShareGroups(topics=FakeTopics(t=2, u=1))
        (self.member,) = joined(self.groups, "a")
        if is_empty:
            self.member.leave()
        coordinator = self.groups.coordinator
        self.offsets = ShareGroupOffsets(
            self.groups.groups.coordinator, coordinator.state_keeper, lambda: self.groups.topics, self.groups.persister
        )

    def describe(self, topics: dict[str, list[int]] | None = None, group_id: str = GROUP) -> DescribedGroup:
        asked = None
        if topics is not None:
            asked = [
                describe.DescribeShareGroupOffsetsRequestTopic(topic_name=name, partitions=partitions)
                for name, partitions in topics.items()
            ]
        responses: list[DescribedGroup] = []
        request = describe.DescribeShareGroupOffsetsRequestGroup(group_id=group_id, topics=asked)
        self.offsets.describe(request, responses.append)
        (response,) = responses
        return response

    def offsets_of(self, topics: dict[str, list[int]] | None = None) -> Offsets:
        return {
            topic.topic_name: {each.partition_index: each.start_offset for each in topic.partitions}
            for topic in self.describe(topics).topics
        }

    def alter(self, offsets: Offsets, group_id: str = GROUP) -> list[alter.AlterShareGroupOffsetsResponse]:
        topics = [
            alter.AlterShareGroupOffsetsRequestTopic(
                topic_name=name,
                partitions=[
                    alter.AlterShareGroupOffsetsRequestPartition(partition_index=index, start_offset=offset)
                    for index, offset in partitions.items()
                ],
            )
            for name, partitions in offsets.items()
        ]
        responses: list[alter.AlterShareGroupOffsetsResponse] = []
        request = alter.AlterShareGroupOffsetsRequest(group_id=group_id, topics=topics)
        self.offsets.alter(request, responses.append)
        return responses

    def altered(self, offsets: Offsets) -> dict[tuple[str, int], Errors]:
        (response,) = self.alter(offsets)
        assert response.error_code == 0
        return {
            (topic.topic_name, each.partition_index): Errors.for_code(each.error_code)
            for topic in response.responses
            for each in topic.partitions
        }

    def delete(self, *names: str, group_id: str = GROUP) -> list[delete.DeleteShareGroupOffsetsResponse]:
        topics = [delete.DeleteShareGroupOffsetsRequestTopic(topic_name=name) for name in names]
        responses: list[delete.DeleteShareGroupOffsetsResponse] = []
        request = delete.DeleteShareGroupOffsetsRequest(group_id=group_id, topics=topics)
        self.offsets.delete(request, responses.append)
        return responses

    def deleted(self, *names: str) -> dict[str, Errors]:
        (response,) = self.delete(*names)
        assert response.error_code == 0
        return {topic.topic_name: Errors.for_code(topic.error_code) for topic in response.responses}


# ── describe ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_all_partitions_with_state_are_described() -> None:
    admin = Admin(is_empty=False)
    assert admin.offsets_of() == {"t": {0: -1, 1: -1}}
    admin.groups.persister.states[SharePartitionKey(GROUP, T, 1)].start_offset = 7
    admin.groups.persister.states[SharePartitionKey(GROUP, T, 1)].leader_epoch = 3
    (topic,) = admin.describe().topics
    assert (topic.topic_name, topic.topic_id) == ("t", T)
    assert [(each.start_offset, each.leader_epoch) for each in topic.partitions] == [(-1, 0), (7, 3)]


def test_partitions_that_are_asked_for_are_described_whatever_is_known() -> None:
    admin = Admin()
    assert admin.offsets_of({"t": [1], "u": [0], "none": [4]}) == {"none": {4: -1}, "t": {1: -1}, "u": {0: -1}}
    assert admin.offsets_of({"none": [4]}) == {"none": {4: -1}}
    assert admin.offsets_of({}) == {}


def test_a_group_that_there_is_not_has_no_offsets() -> None:
    described = Admin().describe(group_id="none")
    assert (described.group_id, described.error_code, described.topics) == ("none", 0, [])


def test_a_group_of_another_coordinator_is_refused() -> None:
    admin = Admin()
    for partition in range(admin.groups.groups.coordinator.group_manager.config.topic_num_partitions):
        admin.groups.groups.coordinator.on_resignation(partition, None)
    admin.groups.groups.sleep(0)
    assert admin.describe().error_code == Errors.NOT_COORDINATOR.code
    assert admin.alter({"t": {0: 1}})[0].error_code == Errors.NOT_COORDINATOR.code
    assert admin.delete("t")[0].error_code == Errors.NOT_COORDINATOR.code


def test_an_error_of_the_share_coordinator_is_an_unknown_offset() -> None:
    admin = Admin()
    admin.groups.persister.errors = [Errors.COORDINATOR_NOT_AVAILABLE]
    assert admin.offsets_of() == {"t": {0: -1, 1: -1}}


# ── alter ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_offsets_are_altered_and_partitions_get_state() -> None:
    admin = Admin()
    assert admin.altered({"t": {1: 50}, "u": {0: 9}}) == {("t", 1): Errors.NONE, ("u", 0): Errors.NONE}
    assert admin.offsets_of() == {"t": {0: -1, 1: 50}, "u": {0: 9}}
    partitions = admin.groups.group().partitions
    assert (partitions.initialized, partitions.initializing) == ({T: frozenset({0, 1}), U: frozenset({0})}, {})
    state = admin.groups.persister.states[SharePartitionKey(GROUP, T, 1)]
    assert state.state_epoch == admin.groups.group().group_epoch
    assert admin.groups.restart().group().partitions.initialized == partitions.initialized


def test_partitions_that_there_are_not_have_their_own_errors() -> None:
    admin = Admin()
    altered = admin.altered({"t": {0: 5, 2: 5, -1: 5}, "none": {0: 5}})
    assert altered == {("t", 0): Errors.NONE, ("t", 2): UNKNOWN, ("t", -1): UNKNOWN, ("none", 0): UNKNOWN}
    (response,) = admin.alter({"none": {0: 5}})
    assert response.responses[0].topic_id.int == 0
    assert response.responses[0].partitions[0].error_message == UNKNOWN.message


def test_what_the_share_coordinator_refuses_is_an_error() -> None:
    admin = Admin()
    admin.groups.persister.errors = [Errors.FENCED_STATE_EPOCH]
    assert admin.altered({"u": {0: 5}}) == {("u", 0): Errors.FENCED_STATE_EPOCH}
    assert admin.groups.group().partitions.initialized == {T: frozenset({0, 1})}
    assert admin.groups.group().partitions.initializing == {}


def test_a_response_waits_for_the_share_coordinator() -> None:
    admin = Admin()
    admin.groups.persister.hold()
    responses = admin.alter({"t": {0: 5}})
    assert responses == []
    assert admin.groups.group().partitions.initializing == {T: frozenset({0})}
    admin.groups.persister.release()
    assert len(responses) == 1


@pytest.mark.parametrize(("group_id", "error"), [("", Errors.INVALID_GROUP_ID), ("none", Errors.GROUP_ID_NOT_FOUND)])
def test_groups_that_there_are_not_are_refused(group_id: str, error: Errors) -> None:
    admin = Admin()
    assert [response.error_code for response in admin.alter({"t": {0: 1}}, group_id)] == [error.code]
    assert [response.error_code for response in admin.delete("t", group_id=group_id)] == [error.code]


def test_groups_of_another_kind_are_refused() -> None:
    admin = Admin()
    FakeMember(admin.groups.groups, group_id="classic").join()
    assert admin.alter({"t": {0: 1}}, "classic")[0].error_code == Errors.GROUP_ID_NOT_FOUND.code
    assert admin.delete("t", group_id="classic")[0].error_code == Errors.GROUP_ID_NOT_FOUND.code


def test_groups_with_members_are_refused() -> None:
    admin = Admin(is_empty=False)
    assert admin.alter({"t": {0: 1}})[0].error_code == Errors.NON_EMPTY_GROUP.code
    assert admin.delete("t")[0].error_code == Errors.NON_EMPTY_GROUP.code


def test_requests_without_topics_change_nothing() -> None:
    admin = Admin()
    assert admin.alter({}) == [alter.AlterShareGroupOffsetsResponse()]
    assert admin.delete() == [delete.DeleteShareGroupOffsetsResponse()]


def test_a_note_that_the_log_refuses_is_an_error() -> None:
    admin = Admin()
    calls = len(admin.groups.persister.calls)
    admin.groups.groups.offsets_log.error = Errors.NOT_ENOUGH_REPLICAS
    assert admin.alter({"u": {0: 1}})[0].error_code == Errors.COORDINATOR_NOT_AVAILABLE.code
    assert admin.delete("t")[0].error_code == Errors.COORDINATOR_NOT_AVAILABLE.code
    assert len(admin.groups.persister.calls) == calls
    assert admin.groups.group().partitions.initialized == {T: frozenset({0, 1})}


# ── delete ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_topics_are_deleted_with_their_state() -> None:
    admin = Admin()
    assert admin.deleted("none", "t", "u") == {"t": Errors.NONE, "none": UNKNOWN, "u": UNKNOWN}
    assert admin.groups.persister.states == {}
    assert admin.offsets_of() == {}
    partitions = admin.groups.group().partitions
    assert (partitions.initialized, partitions.deleting) == ({}, frozenset())


def test_topics_without_state_have_nothing_to_delete() -> None:
    (response,) = Admin().delete("u")
    assert response.responses[0].error_message == "There is no offset information to delete."


def test_a_deletion_that_failed_is_tried_again() -> None:
    admin = Admin()
    admin.groups.persister.errors = [Errors.COORDINATOR_NOT_AVAILABLE]
    assert admin.deleted("t") == {"t": Errors.COORDINATOR_NOT_AVAILABLE}
    assert admin.groups.group().partitions.deleting == {T}
    assert len(admin.groups.persister.states) == 2
    assert admin.deleted("t") == {"t": Errors.NONE}
    assert admin.groups.persister.states == {}


def test_a_deleted_topic_is_begun_again_by_a_new_member() -> None:
    admin = Admin()
    admin.deleted("t")
    member = ShareMember(admin.groups, "b")
    member.heartbeat()
    admin.groups.groups.sleep(10_001)
    member.heartbeat()
    assert admin.groups.group().partitions.initialized == {T: frozenset({0, 1})}
