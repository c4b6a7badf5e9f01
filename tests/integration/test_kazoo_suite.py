"""kazoo's own test suite, as it is installed with kazoo, against the embedded ZooKeeper.

What does not apply is listed, with reasons, in ``tests/support/kazoo_suite_plugin.py``; kazoo itself skips what needs
gevent, eventlet or SASL.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
SUITE_TIMEOUT_S = 400
EXPECTED_PASSES = 300


@pytest.mark.slow
@pytest.mark.timeout(SUITE_TIMEOUT_S + 20)
def test_kazoos_own_suite_passes(tmp_path: Path) -> None:
    spec = importlib.util.find_spec("kazoo")
    assert spec is not None
    assert spec.origin is not None
    suite = Path(spec.origin).parent / "tests"
    report = tmp_path / "report.xml"
    # Away from our own configuration: what warns in kazoo is not ours to turn into errors.
    command = [
        sys.executable,
        "-m",
        "pytest",
        str(suite),
        "-q",
        "--no-header",
        "-c",
        os.devnull,
        "--rootdir",
        str(suite),
    ]
    command += ["-p", "tests.support.kazoo_suite_plugin", "-p", "no:cacheprovider", "-n", "2", "--dist", "loadfile"]
    command += ["--timeout", "120", f"--junitxml={report}", "--tb=short", "-W", "ignore"]
    environment = {name: value for name, value in os.environ.items() if name != "CI"} | {"PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=SUITE_TIMEOUT_S, check=False
    )
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
    totals = ElementTree.parse(report).getroot()[0].attrib
    skipped = int(totals["skipped"])
    passed = int(totals["tests"]) - skipped
    print(f"kazoo's suite: {passed} passed, {skipped} skipped by kazoo")
    assert passed >= EXPECTED_PASSES, totals
