"""Task 5: few files, many tasks."""

import pytest

from kafka_learn.labs.rows import must_be_frame
from pipeline.tuning.plans import exchanges, plan_text
from pipeline.tuning.volume import into_files


@pytest.mark.points(5, task=5)
def test_as_many_files_as_asked_for(spark, tmp_path):
    """900 rows of six tasks in one file, and in nine"""
    rows = spark.range(0, 900, 1, 6)
    for files in (1, 9):
        folder = tmp_path / str(files)
        must_be_frame(into_files(rows, files)).write.parquet(str(folder))
        written = [spark.read.parquet(str(path)).count() for path in folder.glob("*.parquet")]
        assert len(written) == files, f"{files} files were asked for, there are {len(written)}"
        assert sum(written) == 900, f"900 rows went in, the files have {sum(written)}"
        assert max(written) <= 2 * 900 / files, f"the files should be about equal, the largest has {max(written)} rows"


@pytest.mark.points(7, task=5)
def test_the_work_before_stays_in_its_tasks(spark):
    """The plan for one file"""
    plan = plan_text(must_be_frame(into_files(spark.range(0, 900, 1, 6), 1)))
    assert "Coalesce" not in plan, "one task does all: coalesce() takes the tasks away from the work before it, too"
    shuffles = len(exchanges(plan))
    assert shuffles == 1, f"rows should move once, and they move {shuffles} times"
