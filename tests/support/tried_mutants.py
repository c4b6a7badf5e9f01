"""Which small wrong answers each lab lets pass, and whether the lab has changed since they were tried.

    python -m tests.support.tried_mutants LAB …    # tries those of these labs, and notes what passes
    python -m tests.support.tried_mutants          # only writes the tables of the design notes again

``tests/data/lab-mutants.json`` has the numbers, from which the tables in ``docs/design/wrong-answers.md`` are made. CI
tries the labs whose digest is not in the file: none of their answers may pass that is not noted there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from kafka_learn.labs.grader import Runner, jvm_for_checks_of, run_bounded
from kafka_learn.labs.lab import SPARK, Lab, all_labs, find_lab
from kafka_learn.source import module_path
from tests.support.lab_forks import lab_forks
from tests.support.lab_mutants import equal, mutants, try_mutant
from tests.support.stranger_rules import RULES
from tests.support.tried_labs import code

ROOT = Path(__file__).parents[2]
NOTED = ROOT / "tests/data/lab-mutants.json"
PAGES = {language: ROOT / f"docs/design/wrong-answers{suffix}.md" for language, suffix in (("en", ""), ("zh", ".zh"))}


@dataclass
class Tried:
    """What became of a lab's answers: ``made`` counts them by kind, ``passing`` names wrong ones that get 100."""

    digest: str
    made: dict[str, int]
    right: int
    passing: list[str] = field(default_factory=list)


def noted() -> dict[str, Tried]:
    """What was found when each lab was last tried, by its name."""
    return {name: Tried(**row) for name, row in json.loads(NOTED.read_text(encoding="utf-8")).items()}


def digest(lab: Lab) -> str:
    """Of what decides whether an answer passes: the lab's tests, its right answers, the modules that it asks for."""
    paths = [*sorted(lab.tests.glob("*.py")), *map(module_path, lab.modules)]
    right = "\0".join(sorted(equal(lab)))
    return hashlib.sha256("\0".join([right, *map(code, paths)]).encode()).hexdigest()[:16]


def changed() -> list[Lab]:
    """The labs of the file that are not as they were when they were tried."""
    before = noted()
    return [lab for lab in all_labs() if lab.name in before and before[lab.name].digest != digest(lab)]


def try_all(lab: Lab, run: Runner | None) -> Tried:
    """Try each answer of a lab that is not known to be right."""
    right, made, passing = equal(lab), Counter[str](), []
    for mutant in mutants(lab):
        made[mutant.kind] += 1
        if mutant.name not in right and try_mutant(lab, mutant, run).passed:
            passing.append(mutant.name)
    return Tried(digest(lab), dict(made), len(right), passing)


@contextlib.contextmanager
def runner_of(lab: Lab) -> Iterator[Runner]:
    """What runs checks of a lab: forks; on Spark, whose imports start threads, processes that share a JVM."""
    if lab.extra == SPARK:
        with jvm_for_checks_of(lab):
            yield run_bounded
    else:
        with lab_forks([lab]) as forks:
            yield forks.run


def until_first_failure(run: Runner) -> Runner:
    """Ends each check with its first red test: one is enough."""
    return lambda command, limit_s: run([*command, "-x"], limit_s)


# ── the tables ────────────────────────────────────────────────────────────────────────────────────────────────────────

KINDS = {
    "no lock": ("a `with` of a lock left out", "去掉一个加锁的 `with`"),
    "swapped": ("two neighbouring statements in the other order", "相邻两条语句交换次序"),
    "off by one": ("`<` for `<=`, and so on", "`<` 写成 `<=` 之类"),
    "only the first": ("a loop over the first element only", "循环只处理第一个元素"),
    "no early exit": ("a `return`, `break` or `continue` left out", "去掉一个 `return`、`break` 或 `continue`"),
    "left out": ("a call, a change or a `raise` left out", "去掉一次调用、一次修改或一个 `raise`"),
    "every error": ("`except BaseException` for a named error", "该捕获某一种异常，却写成 `except BaseException`"),
    "shared": ("a copy left out", "去掉一次复制"),
    "ignored": ("an argument that is ignored", "忽略一个参数"),
    "constant": ("a constant as the result", "只返回一个常量"),
    "one condition less": ("one operand of `and` or `or` left out", "`and` 或 `or` 少一个条件"),
    "narrow lock": ("a lock taken one statement too late, or released too early", "加锁晚了一条语句，或放锁早了一条"),
    "more errors": (
        "`except Exception` that raises only some of them again",
        "写成 `except Exception`，只重新抛出其中几种",
    ),
}
_HEADS = {
    "en": ("| kind | answers | pass |", "| lab | answers | right | pass |", "all"),
    "zh": ("| 种类 | 答案 | 通过 |", "| 实验 | 答案 | 正确 | 通过 |", "合计"),
}


def by_kind(rows: dict[str, Tried], language: str) -> str:
    """How many answers of each kind there are, and how many of them pass."""
    made, passing = Counter[str](), Counter(name.split(" | ")[1] for row in rows.values() for name in row.passing)
    for row in rows.values():
        made.update(row.made)
    head, _, every = _HEADS[language]
    lines = [f"| {KINDS[kind][language == 'zh']} | {made[kind]:,} | {passing[kind]} |" for kind in RULES]
    return "\n".join([head, "|---|---|---|", *lines, f"| {every} | {made.total():,} | {passing.total()} |"])


def by_lab(rows: dict[str, Tried], language: str) -> str:
    """How many answers each lab has, how many of them are right, and how many pass though they are wrong."""
    _, head, _ = _HEADS[language]
    lines = [
        f"| `{name}` | {sum(row.made.values())} | {row.right} | {len(row.passing)} |"
        for name, row in sorted(rows.items())
    ]
    return "\n".join([head, "|---|---|---|---|", *lines])


def with_tables(text: str, rows: dict[str, Tried], language: str) -> str:
    """A page with its two tables as they should be, each after its comment."""
    for name, table in (("kinds", by_kind(rows, language)), ("labs", by_lab(rows, language))):
        before, _, rest = text.partition(f"<!-- {name} -->\n")
        after = rest.partition(f"<!-- /{name} -->")[2]
        text = f"{before}<!-- {name} -->\n\n{table}\n\n<!-- /{name} -->{after}"
    return text


def note(labs: Iterable[Lab]) -> None:
    """Try these labs, note what passes, and write the tables."""
    rows = noted()
    for lab in labs:
        with runner_of(lab) as run:
            rows[lab.name] = tried = try_all(lab, until_first_failure(run))
        sys.stdout.write("\n".join([f"{lab.name}: {len(tried.passing)} pass", *tried.passing]) + "\n")
    ordered = {name: asdict(row) for name, row in sorted(rows.items())}
    NOTED.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for language, page in PAGES.items():
        page.write_text(with_tables(page.read_text(encoding="utf-8"), rows, language), encoding="utf-8")


if __name__ == "__main__":
    note(map(find_lab, sys.argv[1:]))
