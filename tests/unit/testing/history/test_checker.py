"""Each rule finds its anomaly, and accepts what Kafka allows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_lite.testing.history.checker import check
from kafka_lite.testing.history.history import UNKNOWN_OFFSET, Commit, History, StoredGeneration


def good_history() -> History:
    """Two records, read by one member, which commits them; then the broker is asked for the commit."""
    history = History(idempotent={"p"}, groups={"c": "g"}, finished_groups={"g": "t"})
    for offset, value in enumerate(["p-0", "p-1"]):
        history.acknowledge(history.send("p", "t", 0, value), offset)
        history.poll("c", 1, "t", 0, offset, value)
        history.store("t", 0, offset, value)
    history.assign("g", 1, "c", [("t", 0)])
    history.end_commit(history.begin_commit("g", {("t", 0): 2}))
    history.read_committed("g", "t", 0, 2, history.now())
    return history


def test_a_correct_history_has_no_violation() -> None:
    assert check(good_history()) == []


def two_values_at_one_offset(history: History) -> None:
    history.poll("d", 1, "t", 0, 1, "p-0")


def two_acknowledgements_of_one_offset(history: History) -> None:
    history.acknowledge(history.send("p", "t", 0, "p-2"), 1)


def lose_the_last_record(history: History) -> None:
    history.stored.pop()


def lose_a_record_whose_offset_is_unknown(history: History) -> None:
    history.acknowledge(history.send("p", "t", 0, "p-2"), UNKNOWN_OFFSET)


def lose_a_key(history: History) -> None:
    history.compacted.add("t")
    history.acknowledge(history.send("p", "t", 0, "p-2", "key"), 2)


def store_what_nobody_sent(history: History) -> None:
    history.store("t", 0, 2, "ghost")


def poll_beyond_the_high_watermark(history: History) -> None:
    history.send("p", "t", 0, "uncommitted")
    history.poll("c", 1, "t", 0, 2, "uncommitted")


def poll_what_is_not_stored(history: History) -> None:
    history.acknowledge(history.send("p", "t", 0, "p-2"), 2)
    history.poll("c", 1, "t", 0, 2, "p-2")


def lack_a_record_on_a_replica(history: History) -> None:
    history.store_replica(1, {("t", 0, 0): "p-0"})


def have_another_record_on_a_replica(history: History) -> None:
    history.store_replica(1, {("t", 0, 0): "p-0", ("t", 0, 1): "p-2"})


def lack_a_whole_replica(history: History) -> None:
    history.hosts["t", 0] = [1]


def store_a_record_twice(history: History) -> None:
    history.store("t", 0, 2, "p-1")


def store_in_another_order(history: History) -> None:
    history.send("p", "t", 0, "p-2")
    history.send("p", "t", 0, "p-3")
    history.store("t", 0, 2, "p-3")
    history.store("t", 0, 3, "p-2")


def poll_a_record_again(history: History) -> None:
    history.poll("c", 1, "t", 0, 0, "p-0")


def pass_over_a_record(history: History) -> None:
    for offset, value in enumerate(["p-2", "p-3"], start=2):
        history.send("p", "t", 0, value)
        history.store("t", 0, offset, value)
    history.poll("c", 1, "t", 0, 3, "p-3")


def begin_the_next_assignment_behind_a_record(history: History) -> None:
    for offset, value in enumerate(["p-2", "p-3"], start=2):
        history.send("p", "t", 0, value)
        history.store("t", 0, offset, value)
    history.poll("c", 2, "t", 0, 3, "p-3")


def return_an_older_commit(history: History) -> None:
    history.end_commit(history.begin_commit("g", {("t", 0): 3}))
    history.read_committed("g", "t", 0, 2, history.now())


def give_a_partition_to_another_member(history: History) -> None:
    history.assign("g", 1, "d", [("t", 0)])


def forget_the_commit(history: History) -> None:
    history.read_committed("g", "t", 0, None, history.now())


def take_a_commit_of_an_old_generation(history: History) -> None:
    for generation in (2, 1):
        history.end_commit(history.begin_commit("g", {("t", 0): 2}, generation))


def commit_by_c(history: History, offset: int) -> list[Commit]:
    commits = history.begin_commit("h", {("t", 0): offset})
    commits[0].member = "c"
    return commits


def take_a_commit_of_a_former_owner(history: History) -> None:
    history.assign("h", 1, "c", [("t", 0)])
    history.assign("h", 2, "d", [("t", 0)])
    history.end_commit(commit_by_c(history, 2))


def acknowledge_with_one_copy(history: History) -> None:
    history.min_copies, history.count_copies = 2, lambda *_: 1
    history.acknowledge(history.acknowledged[0][0], 0)


def forget_a_configuration(history: History) -> None:
    history.configs["t"] = {"retention.ms": "2"}
    history.applied_configs = [(0, "t", {"retention.ms": "1"}), (0, "other", {})]


def stay_behind(history: History) -> None:
    history.behind = [("t", 0, 0, 1)]


@pytest.mark.parametrize(
    ("go_wrong", "rule"),
    [
        (two_values_at_one_offset, "inconsistent offsets"),
        (two_acknowledgements_of_one_offset, "inconsistent offsets"),
        (lose_the_last_record, "lost write"),
        (take_a_commit_of_an_old_generation, "commit of an old generation"),
        (take_a_commit_of_a_former_owner, "commit of a former owner"),
        (acknowledge_with_one_copy, "too few copies"),
        (forget_a_configuration, "forgotten configuration"),
        (stay_behind, "stuck group"),
        (lose_a_record_whose_offset_is_unknown, "lost write"),
        (lose_a_key, "lost key"),
        (store_what_nobody_sent, "unsent record"),
        (poll_beyond_the_high_watermark, "vanished read"),
        (poll_what_is_not_stored, "vanished read"),
        (lack_a_record_on_a_replica, "diverged replica"),
        (have_another_record_on_a_replica, "diverged replica"),
        (lack_a_whole_replica, "diverged replica"),
        (store_a_record_twice, "duplicate"),
        (store_in_another_order, "reordered sends"),
        (poll_a_record_again, "non-monotonic poll"),
        (pass_over_a_record, "poll skip"),
        (begin_the_next_assignment_behind_a_record, "unseen record"),
        (give_a_partition_to_another_member, "shared partition"),
        (forget_the_commit, "lost commit"),
        (return_an_older_commit, "lost commit"),
    ],
)
def test_an_anomaly_is_found_by_its_rule(go_wrong: Callable[[History], None], rule: str) -> None:
    history = good_history()
    go_wrong(history)
    assert rule in {violation.rule for violation in check(history)}


def generations_of_two_lives() -> list[StoredGeneration]:
    """What the coordinator stores if c leaves, the group is removed, and d makes it again."""
    return [
        StoredGeneration("g", 1, ("c",)),
        StoredGeneration("g", 2),
        StoredGeneration("g", None),
        StoredGeneration("g", 1, ("d",)),
    ]


def test_a_group_that_was_removed_while_it_was_empty_begins_with_generation_1_again() -> None:
    history = good_history()
    give_a_partition_to_another_member(history)
    for group, generation, members in generations_of_two_lives():
        history.store_generation(group, generation, members)
    assert check(history) == []


@pytest.mark.parametrize(
    "missing",
    [[0], [1], [2], [3], [1, 2]],
    ids=["first owner", "empty generation", "tombstone", "second owner", "whole end of the group"],
)
def test_a_group_of_which_less_is_stored_has_not_begun_again(missing: list[int]) -> None:
    history = good_history()
    give_a_partition_to_another_member(history)
    history.generations = [each for place, each in enumerate(generations_of_two_lives()) if place not in missing]
    assert {violation.rule for violation in check(history)} == {"shared partition"}


def test_two_members_of_the_second_life_of_a_group_share_a_partition() -> None:
    history = good_history()
    for member in ("d", "e"):
        history.assign("g", 1, member, [("t", 0)])
    history.generations = [*generations_of_two_lives(), StoredGeneration("g", 1, ("e",))]
    (violation,) = check(history)
    assert str(violation) == "shared partition: t-0 belongs to d and e in generation 1 of g"


def test_the_removal_of_another_group_is_no_excuse() -> None:
    history = good_history()
    give_a_partition_to_another_member(history)
    first, empty, tombstone, second = generations_of_two_lives()
    history.generations = [first, empty._replace(group="h"), tombstone._replace(group="h"), second]
    assert {violation.rule for violation in check(history)} == {"shared partition"}


def test_a_record_that_was_not_acknowledged_may_be_missing() -> None:
    history = good_history()
    history.fail(history.send("p", "t", 0, "p-2"), "timeout")
    assert check(history) == []


def test_an_acknowledgement_without_an_offset_is_of_a_record_anywhere() -> None:
    history = good_history()
    history.acknowledge(history.sent[1], UNKNOWN_OFFSET)
    history.acknowledge(history.sent[0], UNKNOWN_OFFSET)
    assert check(history) == []


def test_a_plain_producer_may_store_a_record_twice_and_in_another_order() -> None:
    history = good_history()
    history.idempotent.clear()
    for offset, value in ((2, "p-1"), (3, "p-0")):
        history.store("t", 0, offset, value)
        history.poll("c", 1, "t", 0, offset, value)
    assert check(history) == []


def test_a_broker_without_a_replica_of_the_partition_need_not_have_the_records() -> None:
    history = good_history()
    history.hosts["t", 0] = [1]
    history.store_replica(1, {("t", 0, 0): "p-0", ("t", 0, 1): "p-1"})
    history.store_replica(2, {})
    assert check(history) == []


def test_another_assignment_may_start_at_an_earlier_offset() -> None:
    history = good_history()
    history.poll("c", 2, "t", 0, 0, "p-0")
    assert check(history) == []


def test_a_commit_without_a_response_may_have_succeeded() -> None:
    history = good_history()
    history.begin_commit("g", {("t", 0): 1})
    for offset in (1, 2):
        history.read_committed("g", "t", 0, offset, history.now())
    assert check(history) == []


def test_a_commit_of_a_rebalance_may_overlap_the_read() -> None:
    history = good_history()
    began = history.now()
    history.end_commit(history.begin_commit("g", {("t", 0): 5}))
    history.read_committed("g", "t", 0, 2, began)
    assert check(history) == []


def test_a_compacted_topic_may_lack_acknowledged_records() -> None:
    history = good_history()
    history.compacted.add("t")
    history.stored.pop(0)
    assert check(history) == []


def test_a_replica_may_have_more_than_is_committed() -> None:
    history = good_history()
    history.store_replica(1, {("t", 0, 0): "p-0", ("t", 0, 1): "p-1", ("t", 0, 2): "p-2"})
    assert check(history) == []


def test_many_violations_of_a_rule_are_counted() -> None:
    history = good_history()
    for offset in range(2, 60):
        history.store("t", 0, offset, f"ghost-{offset}")
    texts = [violation.text for violation in check(history) if violation.rule == "unsent record"]
    assert texts[-1] == "and 38 more"


def test_commits_of_two_generations_may_overlap() -> None:
    history = good_history()
    older = history.begin_commit("g", {("t", 0): 2}, 1)
    history.end_commit(history.begin_commit("g", {("t", 0): 2}, 2))
    history.end_commit(older)
    assert check(history) == []


def test_enough_copies_and_the_last_configuration_are_no_anomaly() -> None:
    history = good_history()
    history.min_copies, history.count_copies = 2, lambda *_: 2
    history.acknowledge(history.acknowledged[0][0], 0)
    history.configs["t"] = {"retention.ms": "2"}
    history.applied_configs = [(0, "t", {"retention.ms": "2"})]
    assert check(history) == []


def test_an_excused_partition_may_lose_records() -> None:
    history = good_history()
    lose_the_last_record(history)
    history.behind.append(("t", 0, 0, 1))
    assert {violation.rule for violation in check(history)} >= {"lost write", "vanished read", "stuck group"}
    history.excused.add(("t", 0))
    assert check(history) == []


def test_an_excused_partition_may_not_have_a_record_that_nobody_sent() -> None:
    history = good_history()
    history.excused.add(("t", 0))
    history.poll("c", 2, "t", 0, 0, "p-0 with a flipped bit")
    assert [violation.rule for violation in check(history)] == ["unsent record"]


def test_an_owner_may_commit_until_another_has_the_partition_and_after_that_one_has_given_it_up() -> None:
    history = good_history()
    history.assign("h", 1, "c", [("t", 0)])
    history.end_commit(commit_by_c(history, 1))
    began = commit_by_c(history, 1)
    history.assign("h", 2, "d", [("t", 0)])
    history.end_commit(began)
    commit_by_c(history, 2)
    history.release("h", "d", [("t", 0)])
    history.end_commit(commit_by_c(history, 2))
    history.assign("h", 3, "d", [("t", 0)])
    history.assign("h", 4, "c", [("t", 0)])
    history.end_commit(commit_by_c(history, 2))
    assert "commit of a former owner" not in {violation.rule for violation in check(history)}
