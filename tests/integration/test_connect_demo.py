"""``make connect`` from beginning to end, and what it says if something is in its way."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.connect_demo import FOLDER
from tests.support.patience import patient_s


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pipeline.connect_demo", *arguments]
    repository = str(Path(__file__).parents[2])
    environment = os.environ | {"COLUMNS": "80", "PYTHONPATH": repository}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=patient_s(90), check=False
    )


@pytest.mark.soak
def test_each_order_is_in_a_file_once(tmp_path: Path) -> None:
    done = _run(tmp_path, "--orders", "120", "--rate", "1000")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Each of the 120 orders is in one Parquet file, once." in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert {file.name for file in (tmp_path / FOLDER).glob("*.properties")} == {
        "worker.properties", "shop.properties", "lake.properties", "server.properties"
    }  # fmt: skip


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir()
    done = _run(tmp_path)
    assert done.returncode == 1
    assert "was not created by this demo" in " ".join(done.stdout.split())
