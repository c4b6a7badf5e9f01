"""Task 4: what to commit, what to reset, what to fetch, and in which order."""

import pytest

from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata, OffsetResetStrategy


@pytest.fixture
def four(state, partitions):
    """Assigned: t-0 at 5, t-1 at 6 and paused, t-2 being reset, t-3 with neither."""
    names = partitions("t-0", "t-1", "t-2", "t-3")
    state.assign_from_user(names)
    state.seek(names[0], 5)
    state.seek(names[1], 6)
    state.pause(names[1])
    state.need_offset_reset(names[2])
    return names


@pytest.mark.points(5, task=4)
def test_what_to_commit(state, four):
    """Every partition that has a position"""
    found = state.all_consumed()
    assert all(isinstance(each, OffsetAndMetadata) for each in found.values()), (
        f"a commit needs OffsetAndMetadata, not bare numbers; yours {found}"
    )
    consumed = {str(partition): each.offset for partition, each in found.items()}
    assert consumed.get("t-1") == 6, f"t-1 is paused, but has been read up to 6: commit it; yours {consumed}"
    assert consumed == {"t-0": 5, "t-1": 6}, (
        f"t-2 and t-3 have no position, so there is nothing to commit; yours {consumed}"
    )
    state.seek(four[0], 0)
    assert four[0] in state.all_consumed(), "0 is a position: the user has gone back to the beginning, commit that"


@pytest.mark.points(4, task=4)
def test_what_to_reset(state, four):
    """Now, or when the next attempt is due"""
    wanted = {four[2]: OffsetResetStrategy.LATEST}
    assert state.partitions_needing_reset(0) == wanted, "t-2 is being reset, to the latest offset by auto.offset.reset"
    state.set_next_retry([four[2]], 100)
    assert state.partitions_needing_reset(99) == {}, "t-2 may be requested again at 100 ms, not at 99"
    assert state.partitions_needing_reset(100) == wanted, "at 100 ms t-2 is due"
    state.need_offset_reset(four[2], OffsetResetStrategy.EARLIEST)
    found = state.partitions_needing_reset(0)
    assert found == {four[2]: OffsetResetStrategy.EARLIEST}, f"the user asked for the beginning of t-2: {found}"


@pytest.mark.points(6, task=4)
def test_in_which_order_to_fetch(state, partitions):
    """t-0 has returned records"""
    zero, one, two, gone = partitions("t-0", "t-1", "t-2", "t-9")
    state.assign_from_user([zero, one, two])
    for partition in (zero, one, two):
        state.seek(partition, 0)
    state.pause(one)
    assert state.fetchable_partitions() == [zero, two], "t-1 is paused; t-0 and t-2, in the order of the assignment"
    state.move_partition_to_end(zero)
    assert state.fetchable_partitions() == [two, zero], "t-0 has returned records: t-2 has waited longer, and is first"
    state.resume(one)
    state.move_partition_to_end(two)
    found = state.fetchable_partitions()
    assert found == [one, zero, two], f"t-2 has returned records: only t-2 moves, to the end; yours {found}"
    state.unsubscribe()
    state.assign_from_user([two, zero])
    for partition in (zero, two):
        state.seek(partition, 0)
    assert state.fetchable_partitions() == [two, zero], "t-2, t-0: the order of the assignment, not that of the numbers"
    try:
        state.move_partition_to_end(gone)
    except KeyError:
        pytest.fail("t-9 was revoked while its records were in flight: nothing to do, and no error")
    assert not state.is_assigned(gone), "t-9 is not assigned, and must not become assigned"
