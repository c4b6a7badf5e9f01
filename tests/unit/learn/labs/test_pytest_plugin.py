"""An endless loop is located in the answer."""

import sys

from kafka_learn.labs.pytest_plugin import running_loop


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
