import os
import subprocess
import sys
import time

import pytest

from kafka_learn.labs import overlay
from kafka_learn.labs.lab import UnknownLabError, all_labs, find_lab
from kafka_learn.labs.pytest_plugin import running_loop
from kafka_learn.labs.starter import starter, unwritten
from kafka_learn.labs.workspace import AlreadyStartedError, LabWorkspace, NotStartedError, Progress
from kafka_learn.source import find_symbol, module_path

LAB = find_lab("ch06-offset-index")


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_a_starter_keeps_signatures_and_docstrings_and_compiles(lab):
    for module in lab.modules:
        text = starter(lab, module)
        compile(text, module, "exec")
        for name, task in lab.functions_of(module).items():
            assert f'raise NotImplementedError("your task {task.number}: {name}")' in text
            symbol = find_symbol(f"{module}:{name}")
            assert symbol.lines[symbol.node.lineno - 1] in text.splitlines()


def test_a_starter_keeps_the_rest_of_the_module():
    text = starter(LAB, "kafka_lite.log.offset_index")
    assert "self.relative_offset(offset)" not in text
    assert "Raises InvalidOffsetError if" in text
    assert 'ENTRY = struct.Struct(">ii")' in text


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_unwritten_functions_are_those_that_the_starter_leaves_out(lab):
    for module in lab.modules:
        names = list(lab.functions_of(module))
        assert unwritten(starter(lab, module), names) == names
        assert unwritten(module_path(module).read_text(), names) == []


def test_a_missing_function_is_unwritten_and_one_with_more_than_the_message_is_not():
    body = '"""Do."""\n        x = 1\n        raise NotImplementedError("your task 1")\n'
    source = f"class A:\n    def b(self):\n        {body}"
    assert unwritten(source, ["A.b", "A.c"]) == ["A.c"]


def test_labs_are_found_by_name_or_prefix():
    assert find_lab("ch06-offset").name == "ch06-offset-index"
    with pytest.raises(UnknownLabError, match=r"several labs begin with 'ch03': ch03-offset-cache, ch03-zookeeper-reb"):
        find_lab("ch03")
    with pytest.raises(UnknownLabError, match=r"'ch06-ofset-index'\. Did you mean 'ch06-offset-index'\?"):
        find_lab("ch06-ofset-index")
    with pytest.raises(UnknownLabError, match=r"unknown lab 'nope'\. .* labs list shows all of them"):
        find_lab("nope")


def test_without_a_clone_the_message_says_where_labs_are(tmp_path):
    with pytest.raises(UnknownLabError, match="clone of the project"):
        find_lab("ch06-offset", tmp_path)
    with pytest.raises(UnknownLabError, match="clone of the project"):
        all_labs(tmp_path)


def test_a_workspace_is_started_once_and_reset_keeps_the_old_answer(tmp_path):
    workspace = LabWorkspace(LAB, tmp_path)
    with pytest.raises(NotStartedError):
        workspace.files()
    path = workspace.start()[0]
    assert workspace.untouched()
    with pytest.raises(AlreadyStartedError):
        workspace.start()
    path.write_text("my work")
    assert not workspace.untouched()
    kept = workspace.reset()
    assert (kept / path.name).read_text() == "my work"
    assert workspace.untouched()


def test_two_resets_within_a_second_keep_both_answers(tmp_path, monkeypatch):
    monkeypatch.setattr(time, "strftime", lambda _format: "before-reset-20260101-120000")
    workspace = LabWorkspace(LAB, tmp_path)
    path = workspace.start()[0]
    kept = []
    for work in ("first", "second"):
        path.write_text(work)
        kept.append(workspace.reset() / path.name)
    assert [file.read_text() for file in kept] == ["first", "second"]


def test_progress_is_saved_and_a_damaged_file_is_ignored(tmp_path):
    workspace = LabWorkspace(LAB, tmp_path)
    workspace.start()
    workspace.remember(Progress(best=30, total=100, checks=2, hints={"1": 2}, tasks_passed=[1]))
    assert LabWorkspace(LAB, tmp_path).progress().best == 30
    (tmp_path / ".progress.json").write_text("{not json")
    assert workspace.progress() == Progress()


def test_an_overlay_replaces_a_module_for_one_process(tmp_path):
    text = module_path("kafka_lite.log.index_entry").read_text() + "\nMARK = 'mine'\n"
    (tmp_path / "mine.py").write_text(text)
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\nfrom kafka_lite.log import index_entry\nfrom kafka_lite.log.offset_index import OffsetPosition\n"
        "print(index_entry.MARK, OffsetPosition is index_entry.OffsetPosition, sys.argv[1:], __name__)\n"
    )
    command = overlay.command({"kafka_lite.log.index_entry": tmp_path / "mine.py"}, "program", "-m", "x")
    result = subprocess.run(
        command, cwd=tmp_path, env={"PYTHONPATH": f"{tmp_path}:{module_path('kafka_lite').parents[1]}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.stdout == "mine True ['-m', 'x'] __main__\n", result.stderr


def test_a_file_that_is_saved_twice_in_a_second_is_read_again(tmp_path):
    """Python would take bytecode of the first: the file has the same size and time."""
    mine, program = tmp_path / "mine.py", tmp_path / "program.py"
    program.write_text("from kafka_lite.log import index_entry\nprint(index_entry.MARK)\n")
    command = overlay.command({"kafka_lite.log.index_entry": mine}, "program")
    path = f"{tmp_path}:{module_path('kafka_lite').parents[1]}"
    for mark in ("1", "2"):
        mine.write_text(f"MARK = {mark}\n")
        os.utime(mine, (1_700_000_000, 1_700_000_000))
        result = subprocess.run(
            command, cwd=tmp_path, env={"PYTHONPATH": path}, capture_output=True, text=True, check=False
        )
        assert result.stdout == f"{mark}\n", result.stderr


def test_an_overlay_after_the_import_is_rejected(tmp_path):
    assert "kafka_learn.labs.overlay" in sys.modules
    with pytest.raises(RuntimeError, match="too late"):
        overlay.install({"kafka_learn.labs.overlay": tmp_path / "x.py"})


def test_an_endless_loop_is_located_in_the_answer_and_not_in_its_callees(tmp_path):
    file = tmp_path / "answer.py"
    file.write_text(
        "def look(frame):\n    return frame()\n\n\ndef search(frame):\n    while True:\n        return look(frame)\n"
    )
    names = {}
    exec(compile(file.read_text(), str(file), "exec"), names)

    def where(files):
        return running_loop(sys._getframe(1), files)

    assert names["search"](lambda: where([file])) == "line 7 of search"
    assert names["look"](lambda: where([file])) == "line 2 of look"
    assert running_loop(None, [file]) == "an unknown line"
