"""The coordinator of groups of KIP-848: deadlines, the log, offsets, and groups of the other kind."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.group.group_offsets import Committer
from kafka_lite.coordinator.group.offset_and_metadata import OffsetAndMetadata
from tests.support.groups import GROUP, Groups
from tests.support.modern_groups import REBALANCE_TIMEOUT_MS, SESSION_TIMEOUT_MS, FakeTopics, ModernGroups


@pytest.fixture
def groups() -> ModernGroups:
    return ModernGroups()


def test_a_static_member_that_stays_away_is_removed(groups: ModernGroups) -> None:
    member = groups.member("a", instance_id="one")
    member.heartbeat()
    member.leave(-2)
    groups.groups.sleep(SESSION_TIMEOUT_MS + 5000)
    assert groups.group().members == {}


def test_a_session_ends_without_heartbeats(groups: ModernGroups) -> None:
    first, second = groups.member("a"), groups.member("b")
    first.heartbeat()
    groups.settle(first, second)
    for _ in range(6):
        groups.groups.sleep(SESSION_TIMEOUT_MS / 3)
        first.heartbeat()
    assert list(groups.group().members) == ["a"]
    groups.settle(first)
    assert first.numbers() == [0, 1, 2, 3, 4, 5]
    assert second.heartbeat() is Errors.UNKNOWN_MEMBER_ID


def test_a_member_that_does_not_give_up_partitions_is_fenced(groups: ModernGroups) -> None:
    first, second = groups.member("a", is_slow=True), groups.member("b")
    first.heartbeat()
    second.heartbeat()
    for _ in range(8):
        assert {first.heartbeat(), second.heartbeat()} == {Errors.NONE}
        groups.groups.sleep(REBALANCE_TIMEOUT_MS / 7)
    assert list(groups.group().members) == ["b"]
    groups.settle(second)
    assert second.numbers() == [0, 1, 2, 3, 4, 5]


def test_the_most_wanted_assignor_is_taken(groups: ModernGroups) -> None:
    groups.topics.set("u", 3)
    members = [groups.member(name, topics=["t", "u"], assignor="range") for name in "ab"]
    groups.member("c", topics=["t", "u"])
    for member in members:
        member.heartbeat()
    groups.settle(*members)
    assert [(m.numbers("t"), m.numbers("u")) for m in members] == [([0, 1, 2], [0, 1]), ([3, 4, 5], [2])]
    assert groups.coordinator.handle_describe(GROUP).assignor_name == "range"


def test_a_group_has_a_maximum_size() -> None:
    groups = ModernGroups(max_size=1)
    assert groups.member("a").heartbeat() is Errors.NONE
    assert groups.member("b").heartbeat() is Errors.GROUP_MAX_SIZE_REACHED


def test_a_protocol_that_is_switched_off_is_not_served() -> None:
    assert ModernGroups(is_enabled=False).member("a").heartbeat() is Errors.UNSUPPORTED_VERSION


# ── the log ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_another_coordinator_knows_the_same(groups: ModernGroups) -> None:
    first, second = groups.member("a", is_slow=True), groups.member("b", instance_id="two")
    first.heartbeat()
    second.heartbeat()
    first.heartbeat()
    restarted = groups.restart()
    before, after = groups.group(), restarted.group()
    assert after.members == before.members
    assert after.target == before.target
    assert (after.group_epoch, after.assignment_epoch, after.state) == (2, 2, before.state)
    first.groups = second.groups = restarted
    restarted.groups.sleep(SESSION_TIMEOUT_MS - 1000)
    assert {first.heartbeat(), second.heartbeat()} == {Errors.NONE}
    restarted.groups.sleep(REBALANCE_TIMEOUT_MS - SESSION_TIMEOUT_MS + 2000)
    assert list(after.members) == ["b"]


def test_nothing_is_told_before_the_log_has_it(groups: ModernGroups) -> None:
    first, second = groups.member("a"), groups.member("b")
    first.heartbeat()
    groups.groups.offsets_log.held = []
    assert second.heartbeat() is None
    assert first.heartbeat() is None
    groups.groups.offsets_log.release()
    groups.settle(first, second)


def test_a_change_that_the_log_refuses_has_not_happened(groups: ModernGroups) -> None:
    first, second = groups.member("a"), groups.member("b")
    first.heartbeat()
    before = groups.group().members, groups.group().target
    before = dict(before[0]), dict(before[1])
    groups.groups.offsets_log.error = Errors.NOT_LEADER_OR_FOLLOWER
    assert second.heartbeat() is Errors.NOT_COORDINATOR
    assert (groups.group().members, groups.group().target) == before
    assert groups.group().group_epoch == 1
    groups.groups.offsets_log.error = Errors.NONE
    groups.settle(first, second)
    assert first.numbers() == [0, 1, 2]


def test_a_group_is_deleted_with_all_records(groups: ModernGroups) -> None:
    member = groups.member("a")
    member.heartbeat()
    assert groups.groups.admin.handle_delete_groups([GROUP]) == {GROUP: Errors.NON_EMPTY_GROUP}
    member.leave()
    assert groups.groups.admin.handle_delete_groups([GROUP]) == {GROUP: Errors.NONE}
    assert groups.restart().groups.manager.current_groups == []


# ── offsets ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_only_members_in_their_epoch_commit(groups: ModernGroups) -> None:
    member = groups.member("a")
    member.heartbeat()

    def commit(member_id: str, epoch: int, *, knows: bool = True) -> Errors | None:
        return groups.groups.commit(5, "t", 0, Committer(member_id, epoch, None, knows))

    assert commit("a", 1) is Errors.NONE
    assert commit("a", 0) is Errors.STALE_MEMBER_EPOCH
    assert commit("a", 0, knows=False) is Errors.UNSUPPORTED_VERSION
    assert commit("a", 1, knows=False) is Errors.UNSUPPORTED_VERSION
    assert commit("b", 1) is Errors.UNKNOWN_MEMBER_ID
    assert commit("", -1) is Errors.UNKNOWN_MEMBER_ID
    member.leave()
    assert commit("", -1) is Errors.NONE
    assert groups.groups.commit(5, group_id="nobody", committer=Committer("a", 1, None, True)) is (
        Errors.GROUP_ID_NOT_FOUND
    )


def test_a_fetch_of_a_member_must_be_in_its_epoch(groups: ModernGroups) -> None:
    groups.member("a").heartbeat()
    fetch = groups.groups.offsets.handle_fetch_offsets
    assert fetch(GROUP, None) == {}
    assert fetch(GROUP, None, member=("a", 1)) == {}
    for member, error in ((("a", 2), Errors.STALE_MEMBER_EPOCH), (("b", 1), Errors.UNKNOWN_MEMBER_ID)):
        with pytest.raises(ApiError) as raised:
            fetch(GROUP, None, member=member)
        assert raised.value.error is error


# ── both kinds of groups ──────────────────────────────────────────────────────────────────────────────────────────────


def test_members_whose_metadata_cannot_be_read_stay_among_themselves() -> None:
    groups = ModernGroups(Groups())
    (classic,) = groups.groups.stable()
    assert groups.member("a").heartbeat() is Errors.GROUP_ID_NOT_FOUND
    classic.leave()
    modern = groups.member("a")
    assert modern.heartbeat() is Errors.NONE
    assert groups.groups.member().send_join().join_error is Errors.INCONSISTENT_GROUP_PROTOCOL
    assert [(g.group_type, g.group_state) for g in groups.groups.admin.handle_list_groups([], []).groups] == [
        ("consumer", "Stable")
    ]
    assert groups.groups.admin.handle_list_groups([], ["classic"]).groups == []
    assert groups.groups.admin.handle_describe_group(GROUP).group_state == "Dead"
    modern.leave()
    assert groups.groups.member(version=0).send_join().join_error is Errors.NONE
    assert groups.coordinator.handle_describe(GROUP).error_code == Errors.GROUP_ID_NOT_FOUND.code


def test_a_described_group_has_names_of_topics(groups: ModernGroups) -> None:
    member = groups.member("a")
    member.heartbeat()
    described = groups.coordinator.handle_describe(GROUP)
    assert (described.group_state, described.group_epoch, described.assignment_epoch) == ("Stable", 1, 1)
    assert described.assignor_name == "uniform"
    (shown,) = described.members
    assert (shown.member_id, shown.member_epoch, shown.member_type, shown.client_host) == ("a", 1, 1, "/127.0.0.1")
    assert [(p.topic_name, p.partitions) for p in shown.assignment.topic_partitions] == [("t", [0, 1, 2, 3, 4, 5])]
    assert shown.target_assignment == shown.assignment
    assert groups.coordinator.handle_describe("nobody").error_code == Errors.GROUP_ID_NOT_FOUND.code


def test_offsets_of_topics_that_are_read_do_not_expire() -> None:
    groups = ModernGroups(Groups(), FakeTopics(t=1))
    member = groups.member("a")
    member.heartbeat()
    committer = Committer("a", 1, None, True)
    groups.groups.commit(5, "t", 0, committer)
    groups.groups.commit(5, "other", 0, committer)
    for _ in range(8):
        groups.groups.sleep(10 * 60_000 / 10)
    groups.groups.time.sleep(0)
    for _ in range(200):
        groups.groups.sleep(30_000)
        member.heartbeat()
    assert groups.groups.committed("t", 0) == 5
    assert groups.groups.committed("other", 0) == -1


def test_offsets_are_deleted_only_of_topics_that_nobody_reads(groups: ModernGroups) -> None:
    member = groups.member("a")
    member.heartbeat()
    committer = Committer("a", 1, None, True)
    for topic in ("t", "other"):
        groups.groups.commit(5, topic, 0, committer)
    read, other = TopicPartition("t", 0), TopicPartition("other", 0)
    delete = groups.groups.offsets.handle_delete_offsets
    assert delete(GROUP, [read, other]) == {read: Errors.GROUP_SUBSCRIBED_TO_TOPIC, other: Errors.NONE}
    member.leave()
    assert delete(GROUP, [read]) == {read: Errors.NONE}


def test_a_producer_commits_for_a_member_in_its_epoch(groups: ModernGroups) -> None:
    groups.member("a").heartbeat()
    producer = ProducerIdAndEpoch(7, 0)

    def commit(committer: Committer) -> Errors:
        answers: list[Errors] = []
        offsets = {TopicPartition("t", 0): OffsetAndMetadata(5, "", 0)}
        groups.groups.offsets.handle_txn_commit_offsets(
            GROUP, producer, committer, offsets, lambda outcomes: answers.extend(outcomes.values())
        )
        return answers[0]

    assert commit(Committer("a", 1)) is Errors.NONE
    assert commit(Committer()) is Errors.NONE, "an old producer does not know the consumer's member"
    assert commit(Committer("a", 2)) is Errors.ILLEGAL_GENERATION
    assert commit(Committer("b", 1)) is Errors.UNKNOWN_MEMBER_ID


def test_a_departure_that_the_log_refuses_is_noticed_by_the_session(groups: ModernGroups) -> None:
    member, other = groups.member("a"), groups.member("b")
    member.heartbeat()
    other.heartbeat()
    groups.groups.offsets_log.error = Errors.NOT_ENOUGH_REPLICAS
    assert member.leave() is Errors.COORDINATOR_NOT_AVAILABLE
    groups.groups.offsets_log.error = Errors.NONE
    assert "a" in groups.group().members
    for _ in range(10):
        groups.groups.sleep(5_000)
        other.heartbeat()
    assert "a" not in groups.group().members
