"""CI tries all wrong answers of a lab that changed: what counts as a change."""

import dataclasses
import shutil
from pathlib import Path

import pytest

from kafka_learn.labs.lab import Lab, find_lab
from kafka_learn.source import module_path
from tests.support import tried_labs
from tests.support.tried_labs import digest, imported, source_digest


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A copy of a lab, to be changed."""
    lab = find_lab("spark-skew")
    shutil.copytree(lab.folder, tmp_path / lab.name, ignore=shutil.ignore_patterns("__pycache__"))
    return dataclasses.replace(lab, folder=tmp_path / lab.name)


@pytest.mark.parametrize("name", ["wrong.toml", "tests/conftest.py", "tests/test_1_partition.py"])
def test_a_changed_wrong_answer_or_test_changes_the_digest(lab: Lab, name: str) -> None:
    before = digest(lab)
    assert before == digest(find_lab(lab.name))
    with (lab.folder / name).open("a") as file:
        file.write("changed = 1\n")
    assert digest(lab) != before


def test_a_new_test_and_another_module_change_the_digest(lab: Lab) -> None:
    before = digest(lab)
    assert digest(dataclasses.replace(lab, tasks=find_lab("spark-lag").tasks)) != before
    (lab.tests / "test_9_more.py").write_text("from pipeline.tables.lag import log_ends\n")
    assert digest(lab) != before


def test_words_and_imports_do_not_change_the_digest(lab: Lab) -> None:
    before = digest(lab)
    for name in ("README.md", "lab.toml"):
        (lab.folder / name).write_text("other words")
    test = lab.tests / "test_1_partition.py"
    first_line, *code = test.read_text().splitlines()
    assert first_line.startswith('"""')
    test.write_text("\n".join(['"""Other words."""', "import json", "# A comment.", f"{code[0]}  # Why.", *code[1:]]))
    assert digest(lab) == before


def test_imported_modules_are_found_by_either_form() -> None:
    source = (
        "import json\nfrom kafka_learn.labs import rows\nfrom pipeline.events import X\nfrom kafka_lite import log\n"
    )
    ours = {"kafka_learn.labs", "kafka_learn.labs.rows", "pipeline.events"}
    assert imported(source) == ours
    assert imported(source, {"kafka_lite"}) == {"kafka_lite", "kafka_lite.log"}


def test_a_lab_about_the_broker_changes_with_what_its_tests_import_of_it(tmp_path: Path) -> None:
    lab = find_lab("ch06-timing-wheel")
    shutil.copytree(lab.folder, tmp_path / lab.name, ignore=shutil.ignore_patterns("__pycache__"))
    copy = dataclasses.replace(lab, folder=tmp_path / lab.name)
    before = digest(copy)
    (copy.tests / "test_9_more.py").write_text('"""More."""\n')
    unchanged = digest(copy)
    (copy.tests / "test_9_more.py").write_text('"""More."""\n\nfrom kafka_lite.log.log import Log\n')
    assert digest(copy) not in {before, unchanged}


def test_changed_code_of_the_source_for_spark_changes_its_digest_and_words_do_not(tmp_path: Path) -> None:
    package = tmp_path / "spark"
    shutil.copytree(module_path("kafka_lite.spark").parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    before = source_digest(package)
    assert before == source_digest()
    module = package / "__init__.py"
    module.write_text(f"{module.read_text()}\nimport json\n")
    assert source_digest(package) == before
    (package / "more.py").write_text("changed = 1\n")
    assert source_digest(package) != before


def test_what_gives_labs_on_spark_their_session_counts_with_our_source_for_spark(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, source_before = digest(lab), source_digest()
    monkeypatch.setattr(tried_labs, "_SESSIONS", ("kafka_learn.labs.spark_jvm",))
    assert source_digest() != source_before
    assert digest(lab) == before
