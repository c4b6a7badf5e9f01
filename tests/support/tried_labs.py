"""Which labs have changed since all their wrong answers were tried.

    python -m tests.support.tried_labs LAB …    # notes in tests/data/tried-labs.json that all of theirs were tried
    python -m tests.support.tried_labs --all    # of all labs: a green CI of these very files has tried what had changed

There are more than a thousand wrong answers: trying one takes half a second, on Spark ten. CI tries one of each lab but
those on Spark, and all of every lab whose digest is not in the file: a changed lab is tried in every run until
it is noted there. The starters and the shipped code of labs on Spark are tried in the same runs, and if our
source for Spark or the sessions of these labs have changed, which all of them use, of all these labs; those of other
labs in each run.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import sys
import tokenize
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

from kafka_learn.labs.lab import SPARK, Lab, all_labs, find_lab
from kafka_learn.source import UnknownSymbolError, module_path

NOTED = Path(__file__).parents[1] / "data/tried-labs.json"
_RUNNER = "kafka_learn.labs.pytest_plugin"
_SESSIONS = ("kafka_learn.labs.spark_plugin", "kafka_learn.labs.spark_jvm")
_SOURCE = module_path("kafka_lite.spark").parent
_COUNTED = {"pipeline", "kafka_learn"}
"""The packages whose modules count if tests import them. A lab that is not on Spark is about ``kafka_lite`` itself."""


def has_changed(lab: Lab) -> bool:
    """Whether the lab is not as it was when all its wrong answers were tried."""
    noted: dict[str, str] = json.loads(NOTED.read_text(encoding="utf-8"))
    return noted.get(lab.name) != digest(lab)


def source_has_changed() -> bool:
    """Whether our source for Spark, or the session of a lab, is not as it was when the last lab was noted."""
    noted: dict[str, str] = json.loads(NOTED.read_text(encoding="utf-8"))
    return noted.get(_SOURCE.name) != source_digest()


def source_digest(folder: Path | None = None) -> str:
    """Of the code of ``kafka_lite/spark``, and of what gives a lab its session."""
    paths = [*sorted((folder or _SOURCE).rglob("*.py")), *map(module_path, _SESSIONS)]
    return hashlib.sha256("\0".join(map(code, paths)).encode()).hexdigest()[:16]


def digest(lab: Lab) -> str:
    """Of its tests and wrong answers, the modules it is about, those that its tests import or run in, and PySpark."""
    tests = sorted(lab.tests.glob("*.py"))
    counted = _COUNTED if lab.extra == SPARK else {*_COUNTED, "kafka_lite"}
    imports = {name for test in tests for name in imported(test.read_text("utf-8"), counted)}
    modules = {*lab.modules, _RUNNER, *imports}
    parts = [f"pyspark {version('pyspark')}".encode()]
    parts += [(lab.folder / "wrong.toml").read_bytes()]
    parts += [code(path).encode() for path in (*tests, *map(module_path, sorted(modules)))]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def imported(source: str, counted: Collection[str] = _COUNTED) -> set[str]:
    """The modules of these packages that a file imports, or from which it imports names."""
    nodes = [node for node in _statements(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    names = {
        name for node in nodes for name in (node.module or "", *(f"{node.module}.{each.name}" for each in node.names))
    }
    return {name for name in names if name.partition(".")[0] in counted and _exists(name)}


def code(path: Path) -> str:
    """A file without imports, docstrings and comments: a moved or newly described module is the same."""
    return _without_words(path.read_text(encoding="utf-8"))


@cache
def _without_words(source: str) -> str:
    left_out: set[int] = set()
    for node in _statements(ast.parse(source)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = dict(enumerate(source.splitlines(), 1))
    for token in tokenize.generate_tokens(io.StringIO(source).readline) if "#" in source else ():
        if token.type == tokenize.COMMENT:
            number, column = token.start
            lines[number] = lines[number][:column].rstrip()
    return "\n".join(line for number, line in lines.items() if line.strip() and number not in left_out)


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """All statements below a node. ``ast.walk`` would visit each expression, too: ten times as many nodes."""
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        for child in getattr(node, field, ()):
            if isinstance(child, ast.stmt):
                yield child
            yield from _statements(child)


def _exists(name: str) -> bool:
    try:
        return module_path(name).is_file()
    except UnknownSymbolError:
        return False


def note(labs: Iterable[Lab]) -> None:
    """Note these labs, and our source for Spark, as they are now."""
    noted = json.loads(NOTED.read_text(encoding="utf-8")) | {lab.name: digest(lab) for lab in labs}
    noted[_SOURCE.name] = source_digest()
    NOTED.write_text(json.dumps(noted, indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    note(all_labs() if sys.argv[1:] == ["--all"] else map(find_lab, sys.argv[1:]))
