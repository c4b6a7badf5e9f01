"""What external views tell about moves."""

from __future__ import annotations

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from pipeline.mirror_moves import MirrorMoves, Move

T0 = TopicPartition("t", 0)


def view(**topics: str) -> dict[str, dict[str, dict[str, str]]]:
    """``t="12-"``: t/0 is ONLINE at w1, t/1 at w2, t/2 nowhere."""
    return {
        topic: {str(n): {} if w == "-" else {f"w{w}": "ONLINE"} for n, w in enumerate(text)}
        for topic, text in topics.items()
    }


def test_a_move_knows_how_long_nobody_copied() -> None:
    time = MockTime()
    moves = MirrorMoves(time)
    moves.saw(view(t="1", u="2"))
    moves.saw(view(t="-", u="2"))
    time.sleep(700)
    moves.saw(view(t="-", u="2"))
    moves.saw(view(t="2", u="2"))
    assert moves.take_moves() == [Move(T0, "w1", "w2", 700)]
    assert moves.take_moves() == []
    assert moves.owners == {T0: "w2", TopicPartition("u", 0): "w2"}


def test_what_is_new_or_back_has_not_moved() -> None:
    moves = MirrorMoves(MockTime())
    for text in ("1", "-", "1"):
        moves.saw(view(t=text))
    moves.saw(view(t="1", u="2"))
    moves.saw(view(u="2"))
    assert moves.take_moves() == []
    assert moves.owners == {TopicPartition("u", 0): "w2"}


def test_a_partition_whose_view_was_lost_on_the_way_has_moved_all_the_same() -> None:
    moves = MirrorMoves(MockTime())
    moves.saw(view(t="1"))
    moves.saw(view(t="3"))
    assert moves.take_moves() == [Move(T0, "w1", "w3", 0)]


def test_a_mirror_is_served_by_exactly_these_workers() -> None:
    moves = MirrorMoves(MockTime())
    moves.saw(view(t="12"))
    assert moves.is_served({"t": 2}, {"w1", "w2"})
    assert not moves.is_served({"t": 2}, {"w1"})
    assert not moves.is_served({"t": 2}, {"w1", "w2", "w3"})
    assert not moves.is_served({"t": 3}, {"w1", "w2"})
    moves.saw(view(t="1-"))
    assert not moves.is_served({"t": 2}, {"w1"})
