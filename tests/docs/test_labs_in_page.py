"""Every lab that claims to run in a page does, with all points, where sockets, processes and threads are refused."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from kafka_learn.labs.lab import SPARK, all_labs
from kafka_learn.project import PROJECT_ROOT

IN_PAGE = [lab for lab in all_labs() if lab.in_page]
NOT_IN_PAGE = [lab for lab in all_labs() if not lab.in_page and lab.extra != SPARK]
IN_EACH_RUN = {"ch02-buffer-pool", "ch06-offset-index"}
"""Threads, and mappings. The others take a second each: ``make soak``."""


def result_of_the_shipped_code(name: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.page_host", name], cwd=PROJECT_ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "name", [pytest.param(lab.name, marks=[] if lab.name in IN_EACH_RUN else pytest.mark.soak) for lab in IN_PAGE]
)
def test_the_shipped_code_gets_all_points_in_a_page(name: str) -> None:
    result = result_of_the_shipped_code(name)
    assert result["passed"], (result["verdict"], [row for row in result["rows"] if row["state"] != "passed"])


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", [lab.name for lab in NOT_IN_PAGE])
def test_a_lab_that_says_no_has_a_reason(name: str) -> None:
    result = result_of_the_shipped_code(name)
    assert any("a page cannot do this: socket.__new__" in row["message"] for row in result["rows"])


def test_almost_all_labs_run_in_a_page() -> None:
    assert len(IN_PAGE) > 50
    assert not any(lab.in_page for lab in all_labs() if lab.extra == SPARK)
