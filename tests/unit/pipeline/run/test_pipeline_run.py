"""What a run shows of errors, and what it keeps for the log."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from pipeline.run.pipeline_run import callback_errors_go_to


def test_the_traceback_of_a_failed_batch_is_in_sparks_log_and_not_on_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    log_file, py4j = tmp_path / "spark.log", logging.getLogger("py4j.clientserver")
    log_file.write_text("Spark's own lines\n")
    with callback_errors_go_to(log_file):
        try:
            raise ValueError("the broker is away")
        except ValueError:
            py4j.exception("There was an exception while executing the Python Proxy")
    assert "Traceback" in log_file.read_text()
    assert log_file.read_text().startswith("Spark's own lines\n")
    assert capfd.readouterr().err == ""
    assert not caplog.records
    assert logging.getLogger("py4j").propagate
