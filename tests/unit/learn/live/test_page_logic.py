"""The logic of the live page, in Node; a browser opens the page in ``tests/docs/test_live_page.py``."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from kafka_learn.project import PROJECT_ROOT


@pytest.mark.skipif(shutil.which("node") is None, reason="node not found")
def test_the_logic_of_the_live_page_in_node() -> None:
    command = ["node", "--test", "tests/support/live.test.mjs"]
    done = subprocess.run(command, cwd=PROJECT_ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
