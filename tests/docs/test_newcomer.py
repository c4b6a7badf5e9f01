"""From the first page to a green lab by the site alone: its links, its commands, the words of its pages and hints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_learn.project import PROJECT_ROOT
from tests.support.built_site import page_of_the_site

COMMANDS = """[...document.querySelectorAll('article .language-console code')].flatMap(
    code => code.textContent.split('\\n').filter(row => row.startsWith('$ ')).map(row => row.slice(2)))"""
DO = "[...document.querySelectorAll('.ways-in > div')].find(card => card.textContent.includes('{}'))"
BODY = "raise NotImplementedError"
LINES = {
    "to_positive": "return number & 0x7FFFFFFF",
    "partition_for_key": "return to_positive(murmur2(key)) % number_of_partitions",
}
"""A newcomer's answers, as the hints of the lab lead to them."""


@pytest.mark.soak
@pytest.mark.timeout(400)
@pytest.mark.parametrize(("home", "card", "green"), [("", "Do", "100/100"), ("zh/", "做", "100/100")])
def test_the_first_page_leads_to_a_green_lab(tmp_path: Path, home: str, card: str, green: str) -> None:
    with page_of_the_site(tmp_path / "profile") as page:
        page.load(page.home + home)
        page.load(page.evaluate(f"{DO.format(card)}.querySelector('a:not(.beginning)').href"))
        assert page.evaluate(COMMANDS)[:2] == ["make setup", "source .venv/bin/activate"]
        page.load(page.home + home)
        page.load(page.evaluate(f"{DO.format(card)}.querySelector('a.beginning').href"))
        start, check = (command.partition("  #")[0] for command in page.evaluate(COMMANDS)[:2])
        named = page.evaluate("[...document.querySelectorAll('article code')].map(code => code.textContent)")
    run(start, tmp_path)
    untouched = run(check, tmp_path)
    assert green not in untouched
    for name, line in LINES.items():
        assert any(text.startswith(f"{name}(") for text in named), "the page says what to write"
        write_body(tmp_path / "labs-work", name, line)
    assert green in run(check, tmp_path)


def run(command: str, folder: Path) -> str:
    """What a command of a page prints, as in a terminal in which the environment is active."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "HOME": str(folder), "KAFKA_LITE_LABS_WORK": str(folder / "labs-work")}
    done = subprocess.run(
        ["bash", "-c", command], cwd=PROJECT_ROOT, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def write_body(folder: Path, function: str, line: str) -> None:
    """Write the body of a function into the learner's file that has it."""
    (file,) = (path for path in folder.rglob("*.py") if f"def {function}(" in path.read_text(encoding="utf-8"))
    before, definition, after = file.read_text(encoding="utf-8").partition(f"def {function}(")
    body = re.sub(rf"^    {BODY}.*$", f"    {line}", after, count=1, flags=re.MULTILINE)
    assert body != after
    file.write_text(before + definition + body, encoding="utf-8")
