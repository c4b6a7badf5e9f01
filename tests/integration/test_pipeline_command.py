"""``make pipeline``: with faults, stopped and resumed, on this machine's cores and on a Spark cluster.

That it goes on after kill -9 is seen by ``.ci/pipeline-with-a-kill`` and by ``tests/chaos/test_pipeline_kill_nine.py``.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.support.eventually import eventually
from tests.support.pipeline_command import PipelineCommand, processes_of

pytestmark = [pytest.mark.spark, pytest.mark.soak, pytest.mark.nightly, pytest.mark.timeout(900)]

FAULTS = ["--late", "0.05", "--duplicates", "0.02", "--garbage", "10", "--seed", "1"]
AT_ONCE = ("--speed", "20000")
"""What is left of a replay takes few batches: those in which something is killed have run before."""
TABLES = ("flights: 842 rows", "delays: 54 rows", "flights_with_weather: 842 rows", "aircraft_days: ")


def assert_equal_to_pandas(code: int, shown: str, folder: Path) -> None:
    assert code == 0, shown
    for table in TABLES:
        assert f"= {table}" in shown
    assert shown.count("rows, equal to pandas") == len(TABLES)
    assert "= 10 broken, 10 found" in shown
    assert "Every table equals" in (folder / "report.html").read_text()


def test_a_run_that_is_stopped_goes_on_and_equals_pandas(tmp_path: Path) -> None:
    with PipelineCommand(tmp_path, "--speed", "2000", *FAULTS) as run:
        run.wait_for_batch("delays", 0)
        run.signal(signal.SIGINT)
        code, shown = run.end()
        assert code == 130, shown
        assert (
            shown.strip().splitlines()[-1]
            == "Stopped. Nothing is left running. To continue: python -m pipeline --resume"
        )
        assert "Traceback" not in shown
        assert processes_of(tmp_path) == {}
    with PipelineCommand(tmp_path, "--resume", *AT_ONCE) as run:
        code, shown = run.end()
        assert_equal_to_pandas(code, shown, run.folder)
        assert "resumed once" in (run.folder / "report.html").read_text()
    eventually(lambda: processes_of(tmp_path) == {}, lambda: processes_of(tmp_path))


def test_a_spark_cluster_loses_a_worker_and_still_equals_pandas(tmp_path: Path) -> None:
    def executors() -> set[int]:
        return {pid for pid, line in processes_of(tmp_path).items() if "CoarseGrainedExecutor" in line}

    with PipelineCommand(tmp_path, "--workers", "2", "--speed", "5000", *FAULTS) as run:
        run.wait_for_batch("delays", 0)
        eventually(lambda: len(executors()) == 2, "an executor on each worker", 120)
        before = executors()
        workers = [pid for pid, line in processes_of(tmp_path).items() if "deploy.worker.Worker" in line]
        os.killpg(workers[0], signal.SIGKILL)
        eventually(lambda: bool(before - executors()), "its executor ends with it")
        code, shown = run.end()
        assert_equal_to_pandas(code, shown, run.folder)
    eventually(lambda: processes_of(tmp_path) == {}, lambda: processes_of(tmp_path))
