"""What `python -m kafka_learn.notebooks` reports before it executes anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_learn.notebooks import execute_changed, main


def test_an_unknown_notebook_is_rejected_with_a_list_of_notebooks(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["chapters/ch06_storage/nothing.py"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "chapters/ch06_storage/nothing.py is not a chapter's notebook. The notebooks are:" in said
    assert "  chapters/ch06_storage/log_segments.py" in said


@pytest.mark.slow
@pytest.mark.soak
def test_notebooks_are_executed_side_by_side_and_reported_in_order(tmp_path: Path) -> None:
    good, broken = tmp_path / "a.py", tmp_path / "b.py"
    good.write_text("# %% [markdown]\n# # Good\n\n# %%\nprint('well')\n")
    broken.write_text("# %% [markdown]\n# # Broken\n\n# %%\nprint(1 / 0)\n")
    (first, nothing), (second, failure) = execute_changed([good, broken])
    assert (first, nothing, second) == (good, None, broken)
    assert "ZeroDivisionError" in str(failure)
