"""What `python -m kafka_learn.notebooks` says before it executes anything."""

from __future__ import annotations

import pytest

from kafka_learn.notebooks import main


def test_what_is_no_notebook_is_told_which_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["chapters/ch06_storage/nothing.py"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "chapters/ch06_storage/nothing.py is no notebook of the chapters. They are:" in said
    assert "  chapters/ch06_storage/log_segments.py" in said
