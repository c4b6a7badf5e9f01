"""Workflows, dev container and changelog mention only files and commands that exist."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from kafka_lite import __version__

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
VERBS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def steps(workflow: Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


def verbs_of_make(command: str) -> set[str]:
    return set(re.findall(r"\bmake ([a-z-]+)", command))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_existing_verbs_and_scripts(workflow: Path) -> None:
    commands = " ; ".join(step["run"] for step in steps(workflow) if "run" in step)
    assert verbs_of_make(commands) <= VERBS
    named = re.findall(r"(?:\.ci|tests)/[\w./]+|[A-Z]+\.md", commands)
    assert [name for name in named if not (ROOT / name).exists()] == []


WITHOUT_ARGS = {"help", "check", "format", "pages", "wheel", "actionlint", "clean"}
"""Verbs that run several programs, or one without options."""


def test_every_verb_passes_args_on_to_its_program() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipes = dict(re.findall(r"^([a-z-]+):[^\n]*\n((?:\t[^\n]*\n)+)", text, re.MULTILINE))
    assert {verb for verb, recipe in recipes.items() if "ARGS)" not in recipe} == WITHOUT_ARGS


def test_the_lanes_of_marked_tests_have_every_file_that_speaks_of_a_mark() -> None:
    """They collect no other file: one that gets a mark from a module in support has to name it in some way, too."""
    tests = ROOT / "tests"
    speaks = re.compile(r"\b(jvm|soak|nightly)\b")
    makers = [path for path in tests.rglob("*.py") if re.search(r"mark\.(jvm|soak|nightly)", path.read_text("utf-8"))]
    shared = {path.stem for path in makers if not path.name.startswith("test_")}
    users = [
        path
        for path in tests.rglob("test_*.py")
        for name in shared
        if re.search(
            rf"^from tests\.support\.{name} import|^from tests\.support import .*\b{name}\b",
            path.read_text("utf-8"),
            re.M,
        )
    ]
    assert [str(path) for path in users if not speaks.search(path.read_text("utf-8"))] == []


def make_dry_run(*arguments: str) -> subprocess.CompletedProcess[str]:
    # A make that runs the tests would pass its own ARGS on, and have this one print the folders that it enters.
    ours = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "ARGS")
    }
    command = ["make", "--dry-run", *arguments]
    return subprocess.run(command, cwd=ROOT, env=ours, capture_output=True, text=True, check=False)


def test_lock_does_not_upgrade() -> None:
    def command(*arguments: str) -> str:
        return make_dry_run(*arguments).stdout.splitlines()[-1].strip()

    assert command("lock") == ".venv/bin/uv lock"
    assert command("upgrade") == ".venv/bin/uv lock --upgrade"
    assert command("upgrade", "ARGS=--upgrade-package rich") == ".venv/bin/uv lock --upgrade-package rich"


def test_a_former_name_of_args_is_refused() -> None:
    done = make_dry_run("chaos", "CHAOS_OPTIONS=--keep")
    assert done.returncode == 2
    assert 'CHAOS_OPTIONS is called ARGS now: ARGS="--keep"' in done.stderr


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / ".ci" / "run", *sorted(ROOT.glob("docs/**/*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_names_another_variable_for_options(page: Path) -> None:
    assert re.findall(r"\b\w+_OPTIONS=", page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_to_a_version(workflow: Path) -> None:
    used = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w-]+/[\w-]+@v\d+(\.\d+)*", action)] == []


def test_every_supported_python_runs_the_two_commands_and_gets_a_wheel() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    supported = [row.rpartition(" ")[2] for row in project["classifiers"] if re.search(r":: 3\.\d+$", row)]
    for name, job in (("test", "two-commands"), ("release", "wheels")):
        text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")
        assert yaml.safe_load(text)["jobs"][job]["strategy"]["matrix"]["python"] == supported


def test_the_dev_container_uses_existing_verbs_and_files() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert verbs_of_make(json.dumps(container)) <= VERBS
    for file in container["customizations"]["codespaces"]["openFiles"]:
        source = ROOT / file
        assert (source.with_suffix(".py") if source.suffix == ".ipynb" else source).exists()


def test_the_changelog_has_the_current_version() -> None:
    headings = re.findall(r"^## \[(.+?)\](?: - \d{4}-\d\d-\d\d)?$", CHANGELOG, re.MULTILINE)
    assert headings
    assert headings[0] in ("Unreleased", __version__)
    assert __version__ in CHANGELOG


def test_the_house_names_every_room() -> None:
    text = (ROOT / "docs" / "design" / "architecture.md").read_text(encoding="utf-8")
    table = text.partition("| package |")[2].partition("\n\n")[0]
    rows = {name: row for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split(" | ")[0])}
    packages = [path.parent for path in (ROOT / "kafka_lite").glob("*/__init__.py")]
    assert {package.name for package in packages} == set(rows)
    rooms = [path.parent for package in packages for path in package.glob("*/__init__.py")]
    assert [str(room) for room in rooms if room.name not in rows[room.parent.name]] == []
