import subprocess
import sys

import pytest

from kafka_learn.site.runnable import MismatchError, Session, Step, matches, steps

SLEEPER = (
    "import signal, sys, time; signal.signal(signal.SIGINT, lambda *_: sys.exit({code}));"
    "print('ready', flush=True); time.sleep(60)"
)
PAGE = """# Page

```console run
$ echo one; echo two
one
two
$ true
```

```python run
print("three")
```

```text output
three
```

```python
raise SystemExit("not marked, not run")
```
"""


def test_the_marked_blocks_of_a_page_are_its_steps():
    assert steps(PAGE) == [
        Step(4, "console", "echo one; echo two", "one\ntwo\n"),
        Step(7, "console", "true", ""),
        Step(10, "python", 'print("three")\n', "three\n"),
    ]


def test_output_without_a_program_is_rejected():
    with pytest.raises(ValueError, match="line 1"):
        steps("```text output\nx\n```\n")


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\n", "a\nb\n", False),
        ("took … ms\n", "took 12.5 ms\n", True),
        ("took … ms\n", "took 12.5 s\n", False),
        ("first\n…\nlast\n", "first\n1\n2\nlast\n", True),
        ("first\n…\nlast\n", "first\nlast\n", True),
        ("first\n…\nlast\n", "first\n1\n", False),
        ("a.c\n", "abc\n", False),
    ],
)
def test_an_ellipsis_matches_anything(expected, printed, same):
    assert matches(expected, printed) is same


def session(tmp_path, **replace):
    return Session(tmp_path, replace, {})


def test_steps_run_in_the_folder_with_substitutions(tmp_path):
    with session(tmp_path, PORT="1234") as running:
        running.run(Step(1, "console", "echo PORT > file; cat file", "PORT\n"))
    assert (tmp_path / "file").read_text() == "1234\n"


def test_unexpected_output_and_failures_name_the_line(tmp_path):
    with session(tmp_path) as running:
        with pytest.raises(MismatchError, match="line 7"):
            running.run(Step(7, "console", "echo this", "that\n"))
        with pytest.raises(MismatchError, match="exit code 3"):
            running.run(Step(8, "python", "raise SystemExit(3)", ""))


def test_a_background_command_is_awaited_and_ended(tmp_path):
    program = SLEEPER.format(code=0)
    with session(tmp_path) as running:
        running.run(Step(1, "background", f'{sys.executable} -c "{program}"', "ready\n"))


def test_a_failing_background_command_fails_the_session(tmp_path):
    program = SLEEPER.format(code=5)
    with pytest.raises(MismatchError, match="exit codes"), session(tmp_path) as running:
        running.run(Step(1, "background", f'{sys.executable} -c "{program}"', "ready\n"))


def test_a_command_is_repeated_until_it_prints_the_expected_output(tmp_path):
    with session(tmp_path) as running:
        running.run(Step(1, "eventually", "echo x >> file; wc -l < file", "3\n"))
    assert (tmp_path / "file").read_text() == "x\n" * 3


def test_a_background_command_is_stopped_in_the_middle_of_a_page(tmp_path):
    command = f'{sys.executable} -c "{SLEEPER.format(code=0)}"'
    with session(tmp_path) as running:
        running.run(Step(1, "background", command, "ready\n"))
        running.run(Step(2, "stop", command, ""))
        with pytest.raises(MismatchError, match="is not running"):
            running.run(Step(3, "stop", command, ""))


def test_a_failing_background_command_fails_where_it_is_stopped(tmp_path):
    command = f'{sys.executable} -c "{SLEEPER.format(code=5)}"'
    with session(tmp_path) as running:
        running.run(Step(1, "background", command, "ready\n"))
        with pytest.raises(MismatchError, match="line 2"):
            running.run(Step(2, "stop", command, ""))


def test_each_mark_has_its_kind_of_step():
    marks = {"run": "console", "run=eventually": "eventually", "run=background": "background", "run=stop": "stop"}
    for mark, kind in marks.items():
        assert steps(f"```console {mark}\n$ ls\n```\n") == [Step(2, kind, "ls", "")]


def test_the_caller_decides_how_long_a_limit_is(tmp_path):
    with Session(tmp_path, {}, {}, lambda limit_s: limit_s / 1000) as session, pytest.raises(subprocess.TimeoutExpired):
        session.run(Step(1, "console", "sleep 60", ""))


def test_a_page_writes_its_files(tmp_path):
    page = '```properties title="a.properties" run\nport=1\n```\n```properties title="b.properties"\nport=2\n```\n'
    page += '```text title="jaas.conf" run\nClient\n```\n'
    page += "```console run\n$ cat a.properties jaas.conf\nport=3\nClient\n```\n"
    found = steps(page)
    assert [(step.kind, step.code) for step in found][:2] == [("file", "a.properties"), ("file", "jaas.conf")]
    with Session(tmp_path, {"port=1": "port=3"}, {}) as session:
        for step in found:
            session.run(step)
    assert not (tmp_path / "b.properties").exists(), "not marked"
