"""Task 3: three brokers with your code, whose leader dies."""

import pytest


@pytest.mark.points(4, task=3)
def test_all_in_sync(fate):
    """The leader dies right after its response"""
    response, read = fate(-1, 2)
    assert response == "offset 0", f"acks=all, all in sync: acknowledged at offset 0; the response is {response}"
    assert read == ["x"], f"x was acknowledged by the whole ISR, and the next leader must have it; it has {read}"
    for acks in (0, 1):
        response, read = fate(acks, 2)
        assert response == "offset 0", f"acks={acks} does not wait for followers; the response is {response}"
        assert read == [], f"nobody had fetched x when the leader died: acks={acks} loses it; you read {read}"


@pytest.mark.points(4, task=3)
def test_the_isr_had_shrunk(fate):
    """The leader is the whole ISR when the record comes; min.insync.replicas is 2"""
    for unclean in (False, True):
        response, read = fate(-1, 2, shrunk=True, unclean=unclean)
        assert response == "NOT_ENOUGH_REPLICAS", (
            f"acks=all and min.insync.replicas=2, but one of two required replicas is in sync: refuse x, or it is lost "
            f"with the leader; the response is {response}"
        )
        assert not read, f"x was refused: nobody may read it; you read {read}"


@pytest.mark.points(4, task=3)
def test_what_one_replica_is_worth(fate):
    """The same with min.insync.replicas=1, which allows it"""
    response, read = fate(-1, 1, shrunk=True)
    assert response == "offset 1", f"one replica is required, and one is in sync: acknowledged; yours: {response}"
    assert read is None, "only the dead leader has x: no leader is better than one without it"
    response, read = fate(-1, 1, shrunk=True, unclean=True)
    assert response == "offset 1", f"one replica is required, and one is in sync: acknowledged; yours: {response}"
    assert read == [], f"an unclean election leads without x, and without a: that is what it means; you read {read}"
