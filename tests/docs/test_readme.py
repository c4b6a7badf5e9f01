"""The commands of the README work."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import confluent_kafka
import pytest

from kafka_learn.labs.workspace import WORK_VARIABLE
from kafka_lite.server.broker_process import BrokerProcess
from tests.support.patience import patient_s

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RECIPES = sorted((ROOT / "docs" / "contributing").glob("*.md"))


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    """Every kafka-lite command of the README, once, without its comment."""
    lines = [line.split("#")[0].strip() for block in blocks("bash") for line in block.splitlines()]
    return list(dict.fromkeys(line for line in lines if ".venv/bin/kafka-lite " in line))


def test_the_commands_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))  # where `top` looks for brokers
    monkeypatch.setenv(WORK_VARIABLE, str(tmp_path / "labs-work"))
    assert len(commands()) >= 8
    with BrokerProcess(tmp_path, {"zookeeper.embedded.port": "0", "metrics.http.port": "0"}) as broker:
        for command in commands():
            line = command.replace("127.0.0.1:9092", broker.bootstrap_servers)
            line = line.replace(".venv/bin/kafka-lite", str(Path(sys.executable).parent / "kafka-lite"))
            done = subprocess.run(
                line, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=patient_s(60), check=False,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
            if "console-consumer" in command:
                assert done.stdout == "hello, Kafka\n"


def test_the_python_code_works() -> None:
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), {"confluent_kafka": confluent_kafka})


def test_both_languages_have_the_same_table_of_what_works() -> None:
    english, chinese = (
        re.findall(r"^\| (?!\|)(.*) \|$", README.partition(head)[2].partition("\n#")[0], re.MULTILINE)
        for head in ("## What works", "### 已实现的功能")
    )
    assert len(english) == len(chinese) > 10
    for row, twin in zip(english, chinese, strict=True):
        assert re.findall(r"`[^`]+`", row) == re.findall(r"`[^`]+`", twin), twin
        names, same = (set(re.findall(r"[A-Z][a-z]+[A-Z][A-Za-z]+", text)) for text in (row, twin))
        assert names == same, twin


def test_the_named_files_exist() -> None:
    named = re.findall(r"(?<![\w/])(?:config|chapters|labs|tests|bench)/[\w./-]+\.(?:properties|toml|py|md)", README)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])
def test_the_verbs_of_make_exist(text: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    verbs = set(re.findall(r"(?:`|^)make ([a-z-]+)", text, re.MULTILINE))
    assert verbs
    assert [verb for verb in sorted(verbs) if not re.search(rf"^{verb}:", makefile, re.MULTILINE)] == []


def test_contributing_fits_a_screen_or_two_and_leads_to_every_recipe() -> None:
    assert len(CONTRIBUTING.splitlines()) <= 100
    assert [recipe.name for recipe in RECIPES if f"(docs/contributing/{recipe.name})" not in CONTRIBUTING] == []


@pytest.mark.parametrize("page", [ROOT / "CONTRIBUTING.md", *RECIPES], ids=lambda page: page.name)
def test_no_run_has_a_date(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if re.search(r"\d{1,2} [A-Z][a-z]+ 20\d\d|20\d\d-\d\d-\d\d", line)] == []
