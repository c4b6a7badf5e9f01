"""The logic of the stepper, in Node; a browser plays a run in ``tests/docs/test_built_pages.py``."""

import shutil
import subprocess

import pytest

from kafka_learn.project import PROJECT_ROOT


@pytest.mark.skipif(shutil.which("node") is None, reason="node not found")
def test_the_steps_of_a_run_in_node():
    command = ["node", "--test", "tests/support/stepper.test.mjs"]
    done = subprocess.run(command, cwd=PROJECT_ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
