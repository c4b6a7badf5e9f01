"""Task 6: what a query did."""

import pytest

from pipeline.tuning.plans import StageFigures, plan_text, stages, stages_of_job


def stage(number, status="COMPLETE", *, tasks=2, read=0, shuffled=0, written=0):
    return {"stageId": number, "attemptId": 0, "status": status, "numTasks": tasks, "inputRecords": read,
            "shuffleReadRecords": shuffled, "shuffleWriteBytes": written}  # fmt: skip


STAGES = [
    stage(9, tasks=1, shuffled=40),
    stage(8, tasks=4, read=3, shuffled=1000, written=71),
    stage(7, "SKIPPED"),
    stage(8, "FAILED", tasks=4, shuffled=20),
    stage(6, tasks=5, read=1000, written=588),
    stage(5, tasks=3, read=77),
]


@pytest.mark.points(5, task=6)
def test_the_stages_that_did_the_work():
    """Six stages of two jobs, one skipped, one failed"""
    got = stages_of_job({"jobId": 3, "stageIds": [6, 7, 8, 9]}, STAGES)
    numbers = [each.stage for each in got]
    assert 5 not in numbers, "stage 5 is of another job: stageIds names the job's own"
    assert 7 not in numbers, "stage 7 was skipped: its output was there"
    assert numbers.count(8) < 2, "the first attempt of stage 8 failed: only the complete one counts"
    assert numbers == [6, 8, 9], f"by number they are 6, 8, 9, not {numbers}: the UI lists the latest first"
    assert got[1].records != 1000, "stage 8 reads 3 records from a source and 1,000 from a shuffle: 1,003"
    want = [StageFigures(6, 5, 1000, 588), StageFigures(8, 4, 1003, 71), StageFigures(9, 1, 40, 0)]
    assert got == want, f"the figures are {want}, not {got}"


@pytest.mark.points(5, task=6)
def test_a_query_and_its_plan(files, as_run):
    """Flights by airline, in the session's UI"""
    frame = files.groupBy("airline").count()
    got = stages_of_job(*as_run(frame))
    planned = stages(plan_text(frame))
    assert len(got) == planned, f"the plan has {planned} stages and the UI {len(got)}"
    assert got[0].records == 602, f"the first stage reads the 602 flights, you say {got[0].records}"
    assert [each.tasks for each in got[1:]] == [2], f"the shuffle has 2 partitions: 2 tasks, you say {got[1].tasks}"
    assert got[0].shuffle_bytes > 0, "the first stage writes for the second"
    assert got[-1].shuffle_bytes == 0, "the last stage writes for no other"
