"""A starter keeps everything of a module but the bodies that are the task."""

import pytest

from kafka_learn.labs.lab import all_labs, find_lab
from kafka_learn.labs.starter import starter, unwritten
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
