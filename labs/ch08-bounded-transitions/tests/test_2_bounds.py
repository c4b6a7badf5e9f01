"""No state ever has more replicas than its bound, whatever part of the messages is obeyed."""

from collections import Counter

import pytest

from kafka_lite.mirror.helix.stages.message_selection import within_bounds


def sent(helix, counts, *texts):
    chosen = within_bounds(helix.model, helix.bounds, Counter(counts), [helix.message(text) for text in texts])
    return [message.id for message in chosen]


@pytest.mark.points(6, task=2)
def test_the_new_master_waits_for_the_old_one(helix):
    """The new master waits for the old one"""
    up, down = "w2: SLAVE -> MASTER", "w1: MASTER -> SLAVE"
    assert sent(helix, {"MASTER": 1, "SLAVE": 1}, up, down) == [down], "there would be two masters"
    assert sent(helix, {"SLAVE": 2}, up) == [up]


@pytest.mark.points(6, task=2)
def test_what_is_sent_takes_room_at_once(helix):
    """What is sent takes room at once"""
    texts = [f"w{number}: OFFLINE -> SLAVE" for number in (1, 2, 3)]
    assert sent(helix, {"OFFLINE": 3}, *texts) == texts[:2], "only two slaves are allowed"


@pytest.mark.points(6, task=2)
def test_a_state_without_a_bound_takes_all(helix):
    """A state without a bound takes all"""
    texts = [f"w{number}: SLAVE -> OFFLINE" for number in (1, 2)]
    assert sent(helix, {"SLAVE": 2}, *texts) == texts


@pytest.mark.points(6, task=2)
def test_the_most_urgent_transition_takes_the_room(helix):
    """The most urgent transition takes the room"""
    demoted, new = "w2: MASTER -> SLAVE", "w3: OFFLINE -> SLAVE"
    assert sent(helix, {"MASTER": 1, "SLAVE": 1, "OFFLINE": 1}, new, demoted) == [demoted], "a master goes first"


@pytest.mark.points(6, task=2)
def test_the_counts_of_the_caller_stay(helix):
    """The caller's counts stay as they are"""
    counts = Counter({"OFFLINE": 1})
    within_bounds(helix.model, helix.bounds, counts, [helix.message("w1: OFFLINE -> SLAVE")])
    assert counts == {"OFFLINE": 1}, "they are the caller's"
