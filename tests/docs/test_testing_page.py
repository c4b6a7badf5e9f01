"""The test files on the page for users' own services: they pass in an unrelated project."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.support.patience import patient_s

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "testing.md"
_FILE = re.compile(r'^( *)```python title="(test_\w+\.py)"\n(.*?)^ *```$', re.MULTILINE | re.DOTALL)
CLIENTS_NOISE = [
    # kafka-python leaves sockets to the garbage collector.
    "-W",
    "ignore::ResourceWarning",
    "-W",
    "ignore::pytest.PytestUnraisableExceptionWarning",
    "-W",
    "ignore::DeprecationWarning",
]


def files(page: Path) -> dict[str, str]:
    """File name -> test file, for all that a page shows."""
    found = _FILE.findall(page.read_text(encoding="utf-8"))
    assert len({name for _, name, _ in found}) == len(found), "two files of one name"
    return {name: textwrap.dedent(code) for _, name, code in found}


@pytest.mark.soak
def test_the_files_of_the_page_pass(tmp_path: Path) -> None:
    shown = files(PAGE)
    for name, code in shown.items():
        (tmp_path / name).write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", *CLIENTS_NOISE]
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ, capture_output=True, text=True, timeout=patient_s(110), check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) >= len(shown)


def test_all_three_clients_and_all_recipes_are_shown() -> None:
    assert {
        "test_first.py",
        "test_confluent_kafka.py",
        "test_aiokafka.py",
        "test_kafka_python.py",
        "test_retry.py",
        "test_lost_acknowledgement.py",
        "test_restart.py",
        "test_secured.py",
        "test_retention.py",
        "test_poison.py",
        "test_slow.py",
        "test_requests.py",
        "test_several_brokers.py",
        "test_factory.py",
    } <= set(files(PAGE))


def test_all_python_code_of_the_page_is_in_test_files() -> None:
    assert PAGE.read_text(encoding="utf-8").count("```python") == len(files(PAGE))


def test_both_languages_show_the_same_files() -> None:
    def code_only(files: dict[str, str]) -> dict[str, list[str]]:
        return {name: [line.split("  #")[0] for line in code.splitlines()] for name, code in files.items()}

    assert code_only(files(PAGE.with_name("testing.zh.md"))) == code_only(files(PAGE))
