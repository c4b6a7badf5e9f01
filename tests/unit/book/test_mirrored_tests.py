"""The tests of a module are those of its name, those that a table adds, or else the unit tests that import it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.book.mirrored_tests import files_that_test, mirrored_test, package_of


@pytest.fixture
def root(tmp_path: Path) -> Path:
    tests = tmp_path / "tests" / "unit" / "log"
    tests.mkdir(parents=True)
    (tests / "test_cleaner.py").write_text("from kafka_lite.log.offset_map import OffsetMap\n")
    (tests / "test_maps.py").write_text("from kafka_lite.log import log, offset_map\n")
    (tests / "test_words.py").write_text("# offset_map, and kafka_lite.log.offset_maps\n")
    table = tmp_path / "tests" / "data" / "mirror" / "kafka_lite"
    table.mkdir(parents=True)
    (table / "log.toml").write_text(
        '[carried_by]\n"kafka_lite/log/log.py" = ["tests/jvm/test_log.py"]\n'
        '"kafka_lite/log/cleaner.py" = ["tests/jvm/test_cleaner.py"]\n'
    )
    return tmp_path


@pytest.mark.parametrize(
    ("module", "test"),
    [
        ("kafka_lite/log/cleaning/cleaner.py", "tests/unit/log/cleaning/test_cleaner.py"),
        ("kafka_learn/drawing/charts.py", "tests/unit/learn/drawing/test_charts.py"),
        ("kafka_learn/signpost.py", "tests/unit/learn/test_signpost.py"),
        ("pipeline/run/sinks.py", "tests/unit/pipeline/run/test_sinks.py"),
    ],
)
def test_the_tests_of_a_module_are_in_the_same_folders(module: str, test: str) -> None:
    assert mirrored_test(module) == test


def test_kafka_lite_has_a_table_per_package_and_other_packages_have_one(root: Path) -> None:
    assert package_of("kafka_lite/log/cleaning/cleaner.py") == "kafka_lite/log"
    assert package_of("kafka_lite/version.py") == "kafka_lite"
    assert package_of("pipeline/run/sinks.py") == "pipeline"


def test_the_test_of_a_modules_name_comes_before_those_of_the_table(root: Path) -> None:
    assert files_that_test("kafka_lite/log/cleaner.py", root) == [
        "tests/unit/log/test_cleaner.py",
        "tests/jvm/test_cleaner.py",
    ]
    assert files_that_test("kafka_lite/log/log.py", root) == ["tests/jvm/test_log.py"]


def test_a_module_without_tests_of_its_name_has_those_that_import_it(root: Path) -> None:
    assert files_that_test("kafka_lite/log/offset_map.py", root) == [
        "tests/unit/log/test_cleaner.py",
        "tests/unit/log/test_maps.py",
    ]


def test_a_folder_that_has_no_mirror_has_no_tests(root: Path) -> None:
    assert files_that_test("bench/scale.py", root) == []


def test_an_installed_package_comes_without_tests(tmp_path: Path) -> None:
    assert files_that_test("kafka_lite/log/log.py", tmp_path) == []
