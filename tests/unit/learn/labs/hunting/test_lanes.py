"""The drawing of the steps of several threads."""

from __future__ import annotations

from pathlib import Path

from kafka_learn.labs.hunting.hunt_world import Step
from kafka_learn.labs.hunting.lanes import lanes


def test_each_thread_has_a_lane_and_switches_are_drawn(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("    end = self.end\n    self.end = end + 1\n")
    steps = [Step(thread, str(file), line) for thread, line in (("a", 1), ("b", 1), ("b", 2), ("c", 1), ("a", 2))]
    assert lanes(steps).plain.splitlines() == [
        "1 a   2 b   3 c   ",
        "● │ │   mine.py 1  end = self.end",
        "╰─╮ │",
        "│ ● │   mine.py 1  end = self.end",
        "│ ● │   mine.py 2  self.end = end + 1",
        "│ ╰─╮",
        "│ │ ●   mine.py 1  end = self.end",
        "╭───╯",
        "● │ │   mine.py 2  self.end = end + 1",
    ]


def test_only_the_last_steps_are_shown(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("pass\n" * 9)
    text = lanes([Step("a", str(file), line) for line in range(1, 10)], shown=3).plain
    assert [line.split()[2] for line in text.splitlines()[1:]] == ["7", "8", "9"]
