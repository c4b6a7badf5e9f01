"""Task 2: where the follower's log and the leader's part."""

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.server.replication.leader_end_point import EpochEnd
from kafka_lite.server.replication.truncation import truncation_state


def says(epoch, end):
    return EpochEnd(Errors.NONE, epoch, end)


@pytest.mark.points(9, task=2)
def test_the_leaders_end_is_smaller(history):
    """Both have epoch 2: the follower up to 50, the leader up to 35"""
    state = truncation_state(says(2, 35), 50, 10, history((1, 0), (2, 20), end=50))
    assert state.offset == 35, f"they agree up to 35, where epoch 2 ends on the leader; you truncate to {state.offset}"
    assert state.completed, "both logs have epoch 2, so they agree below 35: there is nothing more to ask"


@pytest.mark.points(8, task=2)
def test_the_followers_end_is_smaller(history):
    """The leader has more of the follower's newest epoch, or of an older one"""
    state = truncation_state(says(2, 80), 50, 10, history((1, 0), (2, 20), end=50))
    assert state.offset == 50, f"the leader only has more: nothing to truncate, 50, not {state.offset}"
    state = truncation_state(says(1, 30), 50, 10, history((1, 0), (2, 20), end=50))
    assert state.offset == 20, (
        "the leader has no epoch 2, and its epoch 1 ends at 30, the follower's at 20: "
        f"truncate to 20, not {state.offset}"
    )


@pytest.mark.points(10, task=2)
def test_ask_once_more(history):
    """The leader names an epoch that the follower has not got"""
    state = truncation_state(says(3, 60), 90, 10, history((1, 0), (2, 20), (5, 40), end=90))
    assert not state.completed, (
        "the leader's newest epoch up to 5 is 3, which the follower has not got: "
        "its own epoch 2 may have ended earlier on the leader, so it must ask again"
    )
    assert state.offset == 40, f"epoch 2 ends at 40 on the follower, so nothing beyond stays; you say {state.offset}"


@pytest.mark.points(8, task=2)
def test_leaders_that_say_little(history):
    """A leader without the epoch, one that says only an offset, a follower with newer epochs only"""
    own = history((4, 20), (5, 40), end=90)
    state = truncation_state(says(-1, -1), 90, 33, own)
    assert state == (33, True), (
        f"the leader does not know the epoch: the high watermark is what is certain, 33; {state}"
    )
    state = truncation_state(says(-1, 60), 90, 33, own)
    assert state == (60, True), f"version 0 of the response has only the offset: 60; yours is {state}"
    state = truncation_state(says(2, 25), 90, 33, own)
    assert state == (25, True), (
        f"the follower has nothing as old as epoch 2: the leader's end 25 stays; yours is {state}"
    )
    for what, epoch, end in (("the high watermark", -1, -1), ("version 0", -1, 60), ("an older epoch", 2, 25)):
        state = truncation_state(says(epoch, end), 20, 33, own)
        assert state == (20, True), f"{what}: never beyond the own end, 20; yours is {state}"
    state = truncation_state(says(1, 0), 90, 33, history((1, 0), end=90))
    assert state == (0, True), (
        f"epoch 1 ends at 0 on the leader, an offset that it knows: 0, not unknown; yours is {state}"
    )
