"""``make ureplicator`` from beginning to end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.patience import patient_s


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pipeline.ureplicator_demo", *arguments]
    environment = os.environ | {"COLUMNS": "80", "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=patient_s(300), check=False
    )


@pytest.mark.soak
@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_a_topic_moves_nothing_and_a_death_only_its_own(tmp_path: Path) -> None:
    done = _run(tmp_path, "--rate", "200")
    text = " ".join(done.stdout.replace("│", " ").split())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "payments was added: none of the 9 other partitions moved" in text
    assert "w2 died: its 4 partitions moved, and no other" in text
    assert "w2 came back and got 4 partitions." in text
    assert "records arrived;" in text
