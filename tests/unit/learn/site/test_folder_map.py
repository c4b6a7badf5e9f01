"""The map of the repository has every folder, and what it says of them holds."""

import re
import subprocess

import pytest

from kafka_learn.project import PROJECT_ROOT
from kafka_learn.site.folder_map import FOLDERS, folder_map
from kafka_learn.site.stated_facts import with_facts


def folders_in(path):
    command = ["git", "ls-files", path or "."]
    listed = subprocess.run(command, cwd=PROJECT_ROOT, capture_output=True, text=True, check=True).stdout
    inner = [line.removeprefix(path).partition("/") for line in listed.splitlines()]
    return {name for name, slash, _ in inner if slash and not name.startswith(".")}


def test_every_tracked_folder_is_on_the_map():
    assert {folder.name.rstrip("/") for folder in FOLDERS} == folders_in("")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_map_names_every_folder_of_the_tests(language):
    row = next(line for line in folder_map(language).splitlines() if line.startswith("| `tests/`"))
    assert set(re.findall(r"`(\w+)/`", row)) == folders_in("tests/") | {"tests"}


def test_unit_tests_have_a_folder_for_each_package():
    assert folders_in("kafka_lite/") - folders_in("tests/unit/") == set()


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/design/architecture.md"])
def test_a_page_shows_the_map_as_it_is(page):
    text = (PROJECT_ROOT / page).read_text(encoding="utf-8")
    assert "<!-- map -->" in text
    assert with_facts(text) == text
