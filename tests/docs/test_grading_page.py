"""The page on grading: its options are those of the command, and its workflow is one."""

import argparse
import re

import pytest
import yaml

from kafka_learn.labs.grading.grade_command import add_grade
from kafka_learn.project import PROJECT_ROOT

PAGES = {name: (PROJECT_ROOT / "docs/labs" / name).read_text("utf-8") for name in ("grading.md", "grading.zh.md")}


def options():
    """The options of the command and its help."""
    parser = argparse.ArgumentParser()
    add_grade(parser.add_subparsers())
    (grade,) = [action.choices["grade"] for action in parser._actions if isinstance(action.choices, dict)]
    return {option for action in grade._actions for option in action.option_strings if option.startswith("--")}


@pytest.mark.parametrize("name", PAGES)
def test_the_options_are_those_of_the_command(name):
    table = "".join(line.split("|")[1] for line in PAGES[name].splitlines() if line.startswith("| `--"))
    assert set(re.findall(r"--[a-z-]+", table)) == options() - {"--help", "--lang"}


def workflow(name):
    return yaml.safe_load(re.search(r"```yaml\n(.*?)```", PAGES[name], re.DOTALL)[1])


def test_the_workflow_grades_a_single_submission():
    steps = workflow("grading.md")["jobs"]["grade"]["steps"]
    (command,) = [step["run"] for step in steps if "labs grade" in step.get("run", "")]
    assert set(re.findall(r"--[a-z-]+", command)) <= options()
    assert "--one" in command
    assert workflow("grading.zh.md") == workflow("grading.md")
