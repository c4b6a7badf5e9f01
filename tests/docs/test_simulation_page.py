"""The service of the page on simulation keeps its promise in the simulator, with the command that the page gives."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent.parent
PAGE = PROJECT / "docs/design/simulation.md"

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(400),
    pytest.mark.skipif(sys.version_info >= (3, 14), reason="threading of Python 3.14 is not simulated yet"),
]


def test_the_service_of_the_page_writes_every_invoice(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    service, scenario = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "my_service.py").write_text(service)
    (tmp_path / "my_simulation.py").write_text(scenario)
    (options,) = re.findall(
        r"^\$ \.venv/bin/python (-m kafka_lite\.testing\.simulation\.command .*)$", text, re.MULTILINE
    )
    command = [sys.executable, *options.replace("--seeds 100", "--seed 1").split()]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "seed 1: good" in done.stdout
