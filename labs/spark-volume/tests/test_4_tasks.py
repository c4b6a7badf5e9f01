"""Task 4: how many tasks read a batch."""

import pytest

from pipeline.tuning.volume import read_options, tasks_for


@pytest.mark.parametrize(
    ("records", "partitions", "cores", "per_task", "want", "why"),
    [
        (1000, 2, 4, 100, 12, "10 tasks of 100 are needed, and 12 are three full rounds"),
        (1001, 2, 1, 100, 11, "1,001 records in tasks of 100 are 11 tasks"),
        (10, 8, 4, 100, 8, "8 partitions are 8 tasks at least, two full rounds"),
        (10, 9, 4, 100, 12, "9 partitions on 4 cores: the third round has one task, and takes as long with four"),
        (800, 3, 8, 100, 8, "8 tasks are one round"),
    ],
)
@pytest.mark.points(2, task=4)
def test_tasks(records, partitions, cores, per_task, want, why):
    """Records, partitions, cores, and the most for a task"""
    got = tasks_for(records, partitions, cores, per_task)
    assert got == want, f"{why}: {want} tasks, not {got}"


@pytest.mark.points(6, task=4)
def test_options_of_the_source():
    """With and without minPartitions"""
    got = read_options(300, 6, 3)
    want = {"maxOffsetsPerTrigger": "300", "minPartitions": "6"}
    assert all(isinstance(value, str) for value in got.values()), f"values of options are strings: {want}, not {got}"
    assert got == want, f"a limit of 300, 6 tasks for 3 partitions: {want}, not {got}"
    got = read_options(300, 3, 3)
    assert got == {"maxOffsetsPerTrigger": "300"}, f"3 tasks for 3 partitions need no minPartitions: {got}"
