"""A handler that catches every error and raises none is found in an answer, with its task and its line."""

from types import SimpleNamespace

import pytest

from kafka_learn.labs.grader import check
from kafka_learn.labs.lab import all_labs, find_lab
from kafka_learn.labs.pytest_plugin import LabPlugin
from kafka_learn.labs.swallowing import swallowing
from kafka_learn.source import module_path

LAB = find_lab("ch06-offset-index")
MODULE = "kafka_lite.log.offset_index"


def answer(folder, old, new):
    """The shipped module with one place replaced."""
    source = module_path(MODULE).read_text()
    assert source.count(old) == 1
    file = folder / "offset_index.py"
    file.write_text(source.replace(old, new))
    return {MODULE: file}


@pytest.fixture
def with_handler(tmp_path):
    """``with_handler("except OSError", …)``: ``lookup`` with such a handler around all it does."""

    def make(handler, reaction="pass"):
        wrapped = (
            f"    def lookup(self, target_offset):\n        try:\n            return self._lookup(target_offset)\n"
            f"        {handler}:\n            {reaction}\n\n    def _lookup("
        )
        return answer(tmp_path, "    def lookup(", wrapped)

    return make


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_shipped_code_has_none(lab):
    assert swallowing(lab, {module: module_path(module) for module in lab.modules}) == {}


@pytest.mark.parametrize("handler", ["except", "except BaseException", "except (OSError, BaseException) as e"])
def test_everything_is_caught(with_handler, handler):
    ((task, words),) = swallowing(LAB, with_handler(handler)).items()
    assert task == LAB.functions_of(MODULE)["OffsetIndex.lookup"].number
    assert "of OffsetIndex.lookup catches everything and raises nothing, even Ctrl-C" in words


def test_every_exception_is_caught(with_handler):
    (words,) = swallowing(LAB, with_handler("except Exception")).values()
    assert words.startswith("line ")
    assert "catches every Exception and raises none" in words


def test_a_named_error_may_be_caught_and_every_error_if_it_is_raised_again(with_handler):
    assert swallowing(LAB, with_handler("except OSError")) == {}
    assert swallowing(LAB, with_handler("except BaseException", "raise")) == {}


def test_a_handler_that_raises_some_errors_hides_the_others(with_handler):
    picks = "if isinstance(e, MemoryError):\n                raise"
    (words,) = swallowing(LAB, with_handler("except Exception as e", picks)).values()
    assert "catches every Exception" in words
    expected = "if isinstance(e, OSError):\n                pass\n            else:\n                raise"
    assert swallowing(LAB, with_handler("except Exception as e", expected)) == {}
    assert (
        swallowing(LAB, with_handler("except Exception as e", "if not isinstance(e, OSError):\n                raise"))
        == {}
    )


def test_a_helper_that_suppresses_every_error_belongs_to_the_first_task(tmp_path):
    helper = "    def help(self):\n        with contextlib.suppress(Exception):\n            pass\n\n    def lookup("
    assert list(swallowing(LAB, answer(tmp_path, "    def lookup(", helper))) == [1]


def test_code_of_a_lab_that_catches_every_exception_allows_it_but_no_base_exception(tmp_path):
    lab = find_lab("ch04-request-future")
    (module,) = lab.modules
    file = tmp_path / "request_future.py"
    file.write_text(module_path(module).read_text())
    assert swallowing(lab, {module: file}) == {}
    file.write_text(file.read_text().replace("except Exception as", "except BaseException as"))
    assert len(swallowing(lab, {module: file})) == 1


def test_a_test_of_its_task_that_passes_is_red_with_these_words(with_handler):
    files = with_handler("except BaseException")
    ((task, words),) = swallowing(LAB, files).items()
    plugin = LabPlugin(None, files, 5, 120, {task: words})
    item = SimpleNamespace(get_closest_marker=lambda _: SimpleNamespace(kwargs={"task": task}))
    running = plugin.pytest_runtest_call(item)
    next(running)
    with pytest.raises(pytest.fail.Exception, match="catches everything and raises nothing"):
        running.send(None)
    item = SimpleNamespace(get_closest_marker=lambda _: SimpleNamespace(kwargs={"task": task + 1}))
    running = plugin.pytest_runtest_call(item)
    next(running)
    with pytest.raises(StopIteration):
        running.send(None)


def test_the_grader_tells_the_process_of_the_tests(with_handler):
    commands = []
    check(LAB, with_handler("except BaseException"), run=lambda command, _: (commands.append(command), (0, ""))[1])
    (option,) = [option for option in commands[0] if option.startswith("--lab-swallows=")]
    assert "catches everything" in option
