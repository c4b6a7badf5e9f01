"""The ISR beside a majority quorum."""

from chapters.ch01_introduction.figures.quorum_tables import (
    MajorityQuorum,
    isr_survives,
    slow_replica,
    slow_table,
    survival_table,
    survived,
)


def test_f_plus_one_replicas_survive_f_failures_and_a_majority_needs_twice_as_many() -> None:
    assert [survived(size) for size in (1, 2, 3, 5)] == [(0, 0), (1, 0), (2, 1), (4, 2)]
    assert not isr_survives(2, 2)


def test_a_majority_commits_with_more_than_half_and_elects_nobody_without() -> None:
    quorum = MajorityQuorum(4)
    assert not quorum.write("a", {0, 1})
    assert quorum.write("b", {0, 1, 2})
    quorum.kill(0)
    assert quorum.leader is None
    assert quorum.elect() == 1, "the longest log among the voters"
    quorum.kill(3)
    assert quorum.elect() is None, "two of four are no majority"


def test_a_dead_replica_gets_nothing() -> None:
    quorum = MajorityQuorum(3)
    quorum.kill(2)
    assert not quorum.write("a", {1, 2})
    assert quorum.logs == [[], ["a"], []]


def test_a_slow_replica_holds_up_the_isr_until_it_is_dropped() -> None:
    assert slow_replica() == [("write", "waits", "at once"), ("lag", "later", "at once"), ("dies", "kept", "kept")]


def test_the_tables_have_a_row_per_size_and_per_step() -> None:
    assert survival_table("en").splitlines()[-1] == "| 5 | 4 | 2 |"
    assert slow_table("zh").splitlines()[2] == "| 三个副本中两个有记录 | 等待 | 立即提交 |"
