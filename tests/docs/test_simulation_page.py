"""The service of the page on simulation keeps its promise in the simulator, and one with a bug does not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent.parent
PAGE = PROJECT / "docs/design/simulation.md"
SEEDS = 20
"""The seeds of one command. About three of a hundred find a service that commits too early."""
MOST_SEEDS = 60

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(400),
    pytest.mark.skipif(sys.version_info >= (3, 14), reason="threading of Python 3.14 is not simulated yet"),
]


def run_seeds(
    folder: Path, service: str, scenario: str, options: str, first: int = 1
) -> subprocess.CompletedProcess[str]:
    """Run the page's command, with fewer seeds from the ``first`` on, on these two files."""
    (folder / "my_service.py").write_text(service)
    (folder / "my_simulation.py").write_text(scenario)
    command = [sys.executable, *options.replace("--seeds 1000", f"--seed {first} --seeds {SEEDS}").split()]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def page() -> tuple[str, str, str]:
    """The service, the scenario, and the options of the command."""
    text = PAGE.read_text(encoding="utf-8")
    service, scenario = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (options,) = re.findall(
        r"^\$ \.venv/bin/python (-m kafka_lite\.testing\.simulation\.command .*)$", text, re.MULTILINE
    )
    return service, scenario, options


def test_the_service_of_the_page_writes_every_invoice(page: tuple[str, str, str], tmp_path: Path) -> None:
    done = run_seeds(tmp_path, *page)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 bad" in done.stdout


def test_a_service_that_commits_before_it_sends_is_found(page: tuple[str, str, str], tmp_path: Path) -> None:
    service, scenario, options = page
    commit = "        consumer.commit()\n"
    loop = "        for records in polled.values():\n"
    assert service.count(commit) == service.count(loop) == 1
    early = service.replace(commit, "").replace(loop, commit + loop)
    runs = (run_seeds(tmp_path, early, scenario, options, first) for first in range(1, MOST_SEEDS + 1, SEEDS))
    found = next((run for run in runs if run.returncode), None)
    assert found is not None, f"{MOST_SEEDS} seeds do not find it"
    assert found.returncode == 1, found.stdout + found.stderr
    assert "all invoices: not within 60 s" in found.stdout
