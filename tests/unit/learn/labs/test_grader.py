"""A check in a fork has the result of a check in a new process, and finds nothing of another one."""

import psutil
import pytest

from kafka_learn.labs import overlay
from kafka_learn.labs.grader import check
from kafka_learn.labs.lab import find_lab
from kafka_learn.labs.starter import starter
from kafka_learn.source import module_path
from tests.support.eventually import eventually
from tests.support.lab_forker import imports_of
from tests.support.lab_forks import lab_forks

LAB = find_lab("ch04-request-future")
(ANSWER,) = LAB.modules
LIMIT_S = 60


@pytest.fixture(scope="module")
def forks():
    with lab_forks([LAB]) as running:
        yield running


@pytest.fixture
def run(forks, tmp_path):
    """``run("print(1)")`` runs a program in a fork; returns its exit code and its output."""

    def run_source(source, limit_s=LIMIT_S):
        program = tmp_path / "program.py"
        program.write_text(source)
        return forks.run(overlay.command({"program": program}, "program"), limit_s)

    return run_source


def test_each_answer_gets_the_result_that_it_gets_in_a_new_process(forks, tmp_path):
    shipped = module_path(ANSWER)
    wrong = tmp_path / shipped.name
    wrong.write_text(shipped.read_text().replace("    def complete(", "    def complete_it("))
    assert check(LAB, {ANSWER: shipped}, broker=False, run=forks.run).passed
    in_fork = check(LAB, {ANSWER: wrong}, broker=False, run=forks.run)
    assert not in_fork.passed
    assert in_fork == check(LAB, {ANSWER: wrong}, broker=False)


SHIPPED = module_path(ANSWER)
CHEATS = {
    "the shipped file is executed": (f"exec(open({str(SHIPPED)!r}).read(), globals())", "an answer must be your own"),
    "the shipped file is imported": (
        "from importlib.machinery import SourceFileLoader as Loader\n"
        f"globals().update(vars(Loader('shipped', {str(SHIPPED)!r}).load_module()))",
        "an answer must be your own",
    ),
    "git has the shipped file": (
        "import subprocess\nexec(subprocess.check_output(['git', 'show', 'HEAD:a.py']), globals())",
        "an answer must be your own",
    ),
    "the plug-in is patched": (
        "from kafka_learn.labs import pytest_plugin as p\n"
        "of = p._outcome\np._outcome = lambda item, *_, **__: of(item, '', passed=True)",
        "kafka_learn.labs.pytest_plugin._outcome was replaced",
    ),
    "the report is written by hand": (
        "import atexit, json, os, sys\n"
        "folder = next(word.partition('=')[2] or sys.argv[at + 1] for at, word in enumerate(sys.argv) "
        "if word.startswith('--lab-channel'))\n"
        "def write():\n"
        "    row = {'passed': True, 'running': False, 'skipped': False}\n"
        "    text = json.dumps({'test': 'test_1.py::test_a', 'row': row})\n"
        "    os.write(os.open(folder + '/report', os.O_WRONLY), f'{\"0\" * 64} {text}\\n'.encode())\n"
        "atexit.register(write)",
        "was not written by the grader",
    ),
    "a hook says that tests pass": (
        "import pytest\n"
        "class Hook:\n"
        "    @pytest.hookimpl(tryfirst=True)\n"
        "    def pytest_pyfunc_call(self, pyfuncitem):\n"
        "        return True\n"
        "import gc\n"
        "from _pytest.config import PytestPluginManager\n"
        "[m.register(Hook()) for m in gc.get_objects() if isinstance(m, PytestPluginManager)]",
        "pytest_pyfunc_call was replaced",
    ),
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_an_answer_that_cheats_gets_no_points_and_hears_why(forks, tmp_path, cheat):
    code, why = CHEATS[cheat]
    file = tmp_path / SHIPPED.name
    file.write_text(f"{starter(LAB, ANSWER)}\n{code}\n")
    result = check(LAB, {ANSWER: file}, broker=False, run=forks.run)
    assert not result.passed
    assert result.score == 0
    assert why in " ".join([result.failure, *(outcome.message for outcome in result.outcomes)])


def test_a_fork_finds_what_the_last_one_imported_except_what_needs_a_replaced_module(run):
    imported = "kafka_lite.common.murmur2", ANSWER, "kafka_lite.consumer.consumer_network_client"
    find = f"import sys; print([name for name in {imported} if name in sys.modules])\n"
    code, output = run(find + "".join(f"import {name}\n" for name in imported))
    assert (code, output) == (0, "[]\n")
    assert run(find) == (0, f"['{imported[0]}']\n")


def test_a_fork_finds_nothing_that_another_changed(run):
    assert run("import json; json.loads = None") == (0, "")
    assert run("import json; print(json.loads('1'))") == (0, "1\n")


def test_the_end_of_a_fork_is_that_of_a_process(run):
    code, output = run("raise SystemExit('why')")
    assert (code, output) == (1, "why\n")
    assert run("import os; os.kill(os.getpid(), 9)")[0] == -9
    assert "ZeroDivisionError" in run("1 / 0")[1]
    assert run("import sys; print(sys.stdin.read(), sys.argv[1:])") == (0, " []\n")
    assert run("import threading, time; threading.Thread(target=print, args=['ended']).start()") == (0, "ended\n")


def test_a_fork_is_killed_at_its_time_limit_with_all_its_processes(run, tmp_path):
    marker = f"sleeper-{tmp_path.name}"
    command = f"[sys.executable, '-c', 'import time; time.sleep(60)', {marker!r}]"
    assert run(f"import subprocess, sys\nsubprocess.run({command})", 0.5)[0] is None
    assert run("print('the next')") == (0, "the next\n")

    def left():
        return [process for process in psutil.process_iter(["cmdline"]) if marker in (process.info["cmdline"] or [])]

    eventually(lambda: not left())


IMPORTS = """
from typing import TYPE_CHECKING
import a.b
if TYPE_CHECKING:
    import types_only
try:
    from c import d
except ImportError:
    import instead
class Class:
    import inner
    def method(self):
        import later
"""


def test_imports_are_those_that_an_import_executes(tmp_path):
    file = tmp_path / "module.py"
    file.write_text(IMPORTS)
    assert imports_of(file) == {"typing", "typing.TYPE_CHECKING", "a", "a.b", "c", "c.d", "instead", "inner"}
