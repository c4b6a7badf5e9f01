"""Questions of notebooks have a cell that tells right from wrong; those that have none yet are counted.

The table may only shrink: a new question needs a ``Prediction`` (``kafka_learn.check``), whose cell follows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kafka_learn import notebooks
from kafka_learn.project import PROJECT_ROOT

CHECK = ".check(answer)"
WITHOUT_A_CHECK = {}
"""So many questions of a notebook have no check yet."""


def unchecked(script: Path) -> Iterator[str]:
    """The questions of a notebook whose next cell of code does not check an answer."""
    cells = notebooks.read(script).cells
    for number, cell in enumerate(cells):
        if cell.cell_type != "markdown" or notebooks.is_chinese(cell) or not notebooks.asks(cell.source):
            continue
        code = next((each.source for each in cells[number + 1 :] if each.cell_type == "code"), "")
        if CHECK not in code:
            yield str(cell.source).rstrip().rpartition("\n")[2]


def test_every_other_question_of_a_notebook_is_checked() -> None:
    found = {
        script.relative_to(PROJECT_ROOT / "chapters").with_suffix("").as_posix(): len(list(unchecked(script)))
        for script in notebooks.discover()
    }
    assert {name: count for name, count in found.items() if count} == WITHOUT_A_CHECK


def test_a_question_without_a_check_is_found(tmp_path: Path) -> None:
    script = tmp_path / "small.py"
    script.write_text(
        "# %% [markdown]\n# **How many?**\n\n# %%\nanswer = None\nMANY.check(answer)\n\n"
        "# %% [markdown]\n# And **why?**\n\n# %%\nprint(1)\n\n# %% [markdown]\n# Because.\n\n# %%\nprint(2)\n"
    )
    assert list(unchecked(script)) == ["And **why?**"]
