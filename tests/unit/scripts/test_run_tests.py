"""A lane whose files two processes of pytest share; the second try of one process is in tests/integration."""

import json
import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[3]
FLAKY = """
import pathlib

def test_flaky():
    first = pathlib.Path(__file__).with_name("first")
    if not first.exists():
        first.touch()
        assert False, "bad luck"
"""


def test_the_lane_has_the_tests_of_all_processes_and_their_failures_get_a_second_try(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(FLAKY)
    (tmp_path / "test_b.py").write_text("def test_ok(): pass\n")
    command = [sys.executable, "-m", "scripts.run_tests", "--processes", "2", "lane", ".", "--", "-q"]
    plugins = "-p xdist.plugin -p pytest_reportlog.plugin -p no:cacheprovider"
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "KAFKA_LITE_"))}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": plugins, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lane = json.loads((tmp_path / "build/tests/lane.json").read_text())
    assert (lane["passed"], [each["node_id"] for each in lane["flaky"]]) == (1, ["test_a.py::test_flaky"])
    assert done.stdout.count("1 passed") == 3, "of the second process, of the second try, of the lane"
