import os

from kafka_learn.labs.killed import in_child, killed_at_every_step


def test_a_function_is_killed_before_each_step_on_disk_and_with_an_empty_file(tmp_path):
    def write():
        (tmp_path / "draft").write_text("whole")
        (tmp_path / "draft").rename(tmp_path / "final")

    seen = []
    for outcome in killed_at_every_step(write):
        found = {path.name: path.read_text() for path in tmp_path.iterdir()}
        seen.append((outcome.step, found))
        for path in tmp_path.iterdir():
            path.unlink()
    assert seen == [
        ("the writing of draft", {}),
        ("the first byte of draft, which is open", {"draft": ""}),
        ("the rename of draft", {"draft": "whole"}),
        ("", {"final": "whole"}),
    ]


def test_a_file_that_is_appended_to_keeps_its_beginning(tmp_path):
    path = tmp_path / "log"
    path.write_text("before ")

    def append():
        with path.open("a") as file:
            file.write("after")

    outcome = in_child(append, 1, half_way=True)
    assert outcome.step == "the first byte of log, which is open"
    assert path.read_text() == "before "


def test_what_the_function_raises_is_reported_and_how_it_exits():
    def fail():
        raise ValueError("no such batch")

    assert in_child(fail).error == "ValueError: no such batch"
    assert in_child(lambda: os._exit(7)).error == "exit code 7"
    assert in_child(lambda: None).error == ""
