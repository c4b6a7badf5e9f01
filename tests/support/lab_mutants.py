"""Wrong answers that nobody has listed: each small fault that a learner may write, made from the shipped function.

    python -m tests.support.lab_mutants LAB …    # tries them, prints those that a lab lets pass

Each kind is a rule on the syntax tree, and changes one place: a lock that is left out, two statements in the wrong
order, a comparison that is off by one, and so on. An answer that gets 100 is a gap in the lab's tests, unless it is
right as well: then ``equal.toml`` in the lab's folder has it, with the reason.
"""

from __future__ import annotations

import ast
import copy
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kafka_learn.labs.grader import CheckResult, Runner, check
from kafka_learn.labs.lab import Lab, find_lab
from kafka_learn.source import find_symbol, module_path
from tests.support.lab_forks import lab_forks
from tests.support.stranger_rules import RULES


@dataclass(frozen=True)
class Mutant:
    """One wrong answer: the kind of fault, the line of the function where it is, and the whole module with it."""

    function: str
    kind: str
    line: str
    source: str

    @property
    def name(self) -> str:
        """How ``equal.toml`` names it."""
        return f"{self.function.partition(':')[2]} | {self.kind} | {self.line}"


def mutants(lab: Lab) -> Iterator[Mutant]:
    """The wrong answers of a lab, function by function."""
    seen: dict[str, int] = {}
    for task in lab.tasks:
        for function in task.functions:
            for mutant in mutants_of(function):
                times = seen[mutant.name] = seen.get(mutant.name, 0) + 1
                number = "" if times == 1 else f" ({times})"
                yield Mutant(mutant.function, mutant.kind, mutant.line + number, mutant.source)


def mutants_of(function: str) -> Iterator[Mutant]:
    """Those of one function, ``module:Class.method``."""
    symbol = find_symbol(function)
    assert isinstance(symbol.node, ast.FunctionDef)
    original = ast.unparse(symbol.node)
    for kind, rule in RULES.items():
        for number in range(sum(1 for _ in rule(copy.deepcopy(symbol.node)))):
            node = copy.deepcopy(symbol.node)
            place, change = list(rule(node))[number]
            line = symbol.lines[place - 1].strip()
            change()
            _fill_empty_blocks(node)
            text = ast.unparse(ast.fix_missing_locations(node))
            if text != original:
                yield Mutant(function, kind, line, _module_with(symbol.lines, symbol.node, text))


def _module_with(lines: Iterable[str], node: ast.FunctionDef, text: str) -> str:
    """The module's source with another text of one function."""
    source = list(lines)
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    indented = [f"{' ' * node.col_offset}{line}" for line in text.splitlines()]
    return "\n".join([*source[: first - 1], *indented, *source[node.end_lineno :]]) + "\n"


def _fill_empty_blocks(node: ast.AST) -> None:
    for child in ast.walk(node):
        if isinstance(getattr(child, "body", None), list) and not child.body:  # type: ignore[attr-defined]
            child.body = [ast.Pass()]  # type: ignore[attr-defined]


def equal(lab: Lab) -> dict[str, str]:
    """The names of answers of a lab that are right, each with the reason."""
    path = lab.folder / "equal.toml"
    return (
        {row["answer"]: row["reason"] for row in tomllib.loads(path.read_text("utf-8"))["equal"]}
        if path.exists()
        else {}
    )


def try_mutant(lab: Lab, mutant: Mutant, run: Runner | None) -> CheckResult:
    """Check the shipped modules with this one in place of its own, without the broker."""
    module = mutant.function.partition(":")[0]
    with tempfile.TemporaryDirectory(prefix="kafka-lite-mutant-") as folder:
        path = Path(folder) / module_path(module).name
        path.write_text(mutant.source, encoding="utf-8")
        files = {name: module_path(name) for name in lab.modules} | {module: path}
        return check(lab, files, broker=False, run=run)


def main() -> None:
    """Try the wrong answers of some labs, and print those that pass."""
    labs = [find_lab(name) for name in sys.argv[1:]]
    with lab_forks(labs) as forks:
        for lab in labs:
            known = equal(lab)
            tried = survived = 0
            for mutant in mutants(lab):
                tried += 1
                if mutant.name not in known and try_mutant(lab, mutant, forks.run).passed:
                    survived += 1
                    sys.stdout.write(f"{lab.name}: {mutant.name}\n")
                    sys.stdout.flush()
            sys.stdout.write(f"{lab.name}: {tried} answers, {len(known)} are right, {survived} pass and are not\n")


if __name__ == "__main__":
    main()
