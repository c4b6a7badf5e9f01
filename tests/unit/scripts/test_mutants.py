"""Which mutants a module has, what became of them, and the table; mutmut itself is tried in nightly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts import mutants
from scripts.mutants import NOTED, PAGES, Tried, described, importing_tests, noted, sample, surviving, table, with_table

DIFF = """# kafka_lite.network.large_requests.xǁLargeRequestsǁsend__mutmut_2: survived
--- kafka_lite/network/large_requests.py
+++ kafka_lite/network/large_requests.py
@@ -1,4 +1,4 @@
     def send(self, request: Request) -> None:
-            if len(self._in_progress) >= self._at_once:
+            if len(self._in_progress) > self._at_once:
                 self._waiting.append(request)
"""
MUTANT = "LargeRequests.send: if len(self._in_progress) >= self._at_once: → if len(self._in_progress) > self._at_once:"


def test_a_mutant_is_described_on_one_line() -> None:
    assert described(DIFF) == MUTANT
    of_function = DIFF.replace("xǁLargeRequestsǁsend", "x_send_all").replace("__mutmut_2", "__mutmut_11")
    assert described(of_function).startswith("send_all: if ")


def test_mutants_that_no_test_runs_survive_and_those_beyond_a_time_limit_do_not() -> None:
    assert surviving({"killed": 1, "survived": 0, "no tests": 33, "timeout": 36, "crashed": -11}) == [
        "survived",
        "no tests",
    ]


def test_each_day_other_modules_of_the_table_have_their_turn() -> None:
    modules = ["a", "b", "c", "d", "e"]
    assert sample(modules, 2, 0) == ["a", "b"]
    assert sample(modules, 2, 1) == ["c", "d"]
    assert sample(modules, 2, 2) == ["e", "a"]
    assert sample(modules, 9, 3) == ["a", "b", "c", "d", "e"]
    assert sample(modules, 0, 3) == sample([], 2, 3) == []


def test_the_tests_of_a_module_are_those_that_import_it_and_the_one_of_its_name_is_first(tmp_path: Path) -> None:
    for name, text in {
        "a/test_all.py": "from kafka_lite.network.large_requests import LargeRequests\n",
        "z/test_large_requests.py": "from kafka_lite.network import large_requests\n",
        "learn/test_recorder.py": "from kafka_lite.network.large_requests import LargeRequests\n",
        "network/test_large_requests.py": "tested through others\n",
        "z/test_other.py": "from kafka_lite.network.large_requests_of_others import Other\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    found = importing_tests("kafka_lite.network.large_requests", tmp_path)
    assert [f"{path.parent.name}/{path.name}" for path in found] == [
        "network/test_large_requests.py",
        "z/test_large_requests.py",
        "a/test_all.py",
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(mutants, "PROJECT", tmp_path)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_module.py").write_text("one")
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    return tmp_path


def test_survivors_are_tried_again_when_the_tests_have_changed_and_others_are_not(folder: Path) -> None:
    test = folder / "tests/test_module.py"
    work = mutants.prepared("kafka_lite.module", [test])
    assert 'only_mutate = ["kafka_lite/module.py"]' in (work / "pyproject.toml").read_text()
    results = work / "mutants/kafka_lite/module.py.meta"
    results.parent.mkdir()
    results.write_text(json.dumps({"exit_code_by_key": {"a": 0, "b": 1, "c": 33}, "other": 7}))
    mutants.prepared("kafka_lite.module", [test])
    assert mutants.exit_codes(work, "kafka_lite.module") == {"a": 0, "b": 1, "c": 33}
    test.write_text("two")
    mutants.prepared("kafka_lite.module", [test])
    assert mutants.exit_codes(work, "kafka_lite.module") == {"a": None, "b": 1, "c": None}
    assert json.loads(results.read_text())["other"] == 7


def test_a_new_survivor_makes_the_run_red_unless_it_is_noted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {"kafka_lite.a": Tried(10, ["known"], {"same": "why"})}
    written: list[dict[str, Tried]] = []
    monkeypatch.setattr(mutants, "noted", lambda: dict(rows))
    monkeypatch.setattr(mutants, "write", written.append)
    monkeypatch.setattr(mutants, "try_module", lambda _module, _processes, equal: Tried(10, ["known"], equal))
    assert mutants.main(["--sample", "1"]) == 0
    assert "kafka_lite.a: 10 mutants, 1 survive, 1 are equal\n  noted: known" in capsys.readouterr().out
    monkeypatch.setattr(mutants, "try_module", lambda _module, _processes, equal: Tried(12, ["known", "one"], equal))
    assert mutants.main(["kafka_lite.a"]) == 1
    assert "new: one" in capsys.readouterr().out
    assert not written
    assert mutants.main(["kafka_lite.a", "--note"]) == 0
    assert written == [{"kafka_lite.a": Tried(12, ["known", "one"], {"same": "why"})}]


def test_the_table_counts_what_was_killed() -> None:
    rows = {"b": Tried(1200, ["x", "y"], {"z": "why"}), "a": Tried(10)}
    assert table(rows, "en").split("\n")[2:] == [
        "| `a` | 10 | 10 | 0 | 0 |",
        "| `b` | 1,200 | 1,197 | 1 | 2 |",
        "| all | 1,210 | 1,207 | 1 | 2 |",
    ]
    page = with_table("before\n<!-- modules -->\nold\n<!-- /modules -->\nafter\n", rows, "zh")
    assert page.startswith("before\n<!-- modules -->\n\n| 模块 | ")
    assert page.endswith("| 合计 | 1,210 | 1,207 | 1 | 2 |\n\n<!-- /modules -->\nafter\n")


@pytest.mark.parametrize("language", PAGES)
def test_the_pages_have_the_table_that_is_noted(language: str) -> None:
    text = PAGES[language].read_text(encoding="utf-8")
    assert text == with_table(text, noted(), language), "run python -m scripts.mutants"


def test_noted_modules_exist_and_nine_in_ten_of_their_mutants_are_killed() -> None:
    for module, tried in noted().items():
        assert NOTED.parents[2].joinpath(*module.split(".")).with_suffix(".py").is_file(), module
        assert len(tried.surviving) * 10 <= tried.made - len(tried.equal), module
        assert all(tried.equal.values()), f"{module}: an equal mutant needs its reason"
