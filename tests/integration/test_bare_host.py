"""The simulator on a host that lacks the libraries in C and some modules of the standard library, as a page does."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_learn.project import PROJECT_ROOT

PURE = ("greenlet", "kafka", "kazoo", "platformdirs")
"""The packages that are there: kafka_lite's codecs and crc32c are not among them."""
PROGRAM = """
import sys
sys.modules.update(dict.fromkeys(("ssl", "_ssl", "fcntl", "resource")))  # None: their import raises ImportError
from kafka_lite.common.crc32c import crc32c
from kafka_lite.testing.simulation.runner import ModulePool, Plan, Run, run_seed
assert crc32c.__module__ == "kafka_lite.common.pure_python_crc32c", crc32c
outcome = run_seed(Plan("one-broker"), Run(2), ModulePool(0))
print("\\n".join(outcome.notes[-40:]), outcome.failure, outcome.violations, outcome.summary)
sys.stdout.flush()
import os
os._exit(not outcome.is_good)
"""


@pytest.mark.soak
def test_a_seed_is_good_on_a_bare_host(tmp_path: Path) -> None:
    for package in PURE:
        spec = importlib.util.find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        (tmp_path / package).symlink_to(Path(spec.origin).parent)
    done = subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{PROJECT_ROOT}", "PYTHONHASHSEED": "0"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
