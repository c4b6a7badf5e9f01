"""Task 1: the table, the action, the new state."""

import pytest

from kafka_learn.labs.controllers import PARTITION, LabController
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.partition_leader_selector import StateChangeFailedError
from kafka_lite.controller.partition_state_machine import PartitionState

OTHER = TopicPartition("demo", 1)


@pytest.mark.points(8, task=1)
def test_only_what_the_table_allows():
    """A partition that does not exist goes on line, then off line"""
    controller = LabController()
    for target in (PartitionState.ONLINE, PartitionState.OFFLINE):
        try:
            controller.partitions.handle_state_changes([PARTITION], target)
        except StateChangeFailedError:
            pytest.fail("a change that the table does not allow is logged and returned, not raised: the others go on")
        found = controller.partitions.state(PARTITION)
        assert found is PartitionState.NON_EXISTENT, (
            f"{target.name} does not follow NON_EXISTENT: keep it; not {found.name}"
        )
    assert controller.sent == [], "no broker is told of a change that did not happen"


@pytest.mark.points(7, task=1)
def test_a_failure_stops_nobody_else():
    """Two partitions go on line; the first has no living replica"""
    controller = LabController({PARTITION: [4], OTHER: [2, 3]})
    both = [PARTITION, OTHER]
    controller.partitions.handle_state_changes(both, PartitionState.NEW)
    try:
        failed = controller.partitions.handle_state_changes(both, PartitionState.ONLINE)
    except StateChangeFailedError as error:
        pytest.fail(f"catch the StateChangeFailedError, log and return it, or partition 1 is not handled: {error}")
    except KeyError as error:
        pytest.fail(
            "partition 0 has no first state, so _initialize_leader_and_isr must raise StateChangeFailedError, "
            f"not {error!r}"
        )
    states = {each.partition: controller.partitions.state(each).name for each in both}
    assert states == {0: "NEW", 1: "ONLINE"}, f"partition 0 stays NEW, partition 1 is ONLINE; yours are {states}"
    assert isinstance(failed.get(PARTITION), StateChangeFailedError), (
        f"return the error of partition 0: the caller reports it; handle_state_changes got {failed}"
    )
    assert list(failed) == [PARTITION], f"return None for what succeeds; yours has failures of {list(failed)}"


@pytest.mark.points(5, task=1)
def test_from_the_beginning_to_the_end():
    """NEW, OFFLINE, NON_EXISTENT"""
    controller = LabController()
    for target in (PartitionState.NEW, PartitionState.OFFLINE, PartitionState.NON_EXISTENT):
        controller.partitions.handle_state_changes([PARTITION], target)
    assert PARTITION not in controller.partitions._states, "a partition that does not exist must not be remembered"


@pytest.mark.points(5, task=1)
def test_which_action():
    """From NEW the first leader, from ONLINE and OFFLINE an election"""
    controller = LabController()
    asked = []

    def select(_partition, _current):
        asked.append("selector")
        raise StateChangeFailedError("nobody")

    machine = controller.partitions
    machine.handle_state_changes([PARTITION], PartitionState.NEW)
    machine.handle_state_changes([PARTITION], PartitionState.ONLINE, select)
    assert asked == [], "a NEW partition has no leader to replace: its first leader needs no selector"
    machine.handle_state_changes([PARTITION], PartitionState.ONLINE, select)
    assert asked == ["selector"], (
        f"an ONLINE partition gets another leader from the selector; it was asked {len(asked)} times"
    )
    assert machine.state(PARTITION) is PartitionState.ONLINE, "the election failed: the state stays ONLINE"
