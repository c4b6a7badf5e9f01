"""Mutants: small mistakes in a module, which its unit tests should notice; docs/design/mutants.md has the table.

    python -m scripts.mutants MODULE… [--note]    kafka_lite.network.large_requests …; --note: into the table
    python -m scripts.mutants --sample N          N of the modules in the table, each day others
    python -m scripts.mutants                     writes the tables of the pages again

mutmut makes the mutants and tries each in a fork, with those unit tests that call the changed function. It works in
a folder of build/mutants, which keeps what has been tried: a run that was interrupted continues there. After a change
of the module, mutmut tries the functions that changed; after a change of the tests, those mutants that survived.

Returns 1 if a mutant survives that is not in ``tests/data/mutants.json``.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
NOTED = PROJECT / "tests/data/mutants.json"
PAGES = {language: PROJECT / f"docs/design/mutants{suffix}.md" for language, suffix in (("en", ""), ("zh", ".zh"))}
FOLDERS = ("bench", "chapters", "config", "docs", "examples", "kafka_learn", "labs", "pipeline", "scripts")
"""Unit tests read these beside the package."""
SURVIVED, NO_TESTS = 0, 33
NOT_TRIED = (None, 2)
"""2: interrupted."""


@dataclass
class Tried:
    """The outcome of a module's mutants; ``surviving`` and ``equal`` have them as ``described`` does.

    ``equal`` mutants change nothing that anybody could notice; the value is the reason. They survive, too.
    """

    made: int
    surviving: list[str] = field(default_factory=list)
    equal: dict[str, str] = field(default_factory=dict)


def main(arguments: Sequence[str]) -> int:
    """Try the modules' mutants; see the module's docstring."""
    parser = argparse.ArgumentParser(prog="python -m scripts.mutants", description="Which mistakes the tests notice.")
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="such as kafka_lite.network.large_requests")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="try N of the modules in the table")
    parser.add_argument("--note", action="store_true", help="put the outcome into the table")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="how many mutants at once")
    options = parser.parse_args(arguments)
    rows = noted()
    red = False
    for module in [*options.modules, *sample(sorted(rows), options.sample, datetime.date.today().toordinal())]:
        tried = try_module(module, options.processes, rows.get(module, Tried(0)).equal)
        known = rows.get(module, Tried(0)).surviving
        new = [mutant for mutant in tried.surviving if mutant not in known]
        print(f"{module}: {tried.made} mutants, {len(tried.surviving)} survive, {len(tried.equal)} are equal")
        print(*(f"  {'new' if mutant in new else 'noted'}: {mutant}" for mutant in tried.surviving), sep="\n")
        if options.note:
            rows[module] = tried
        red = red or bool(new and not options.note)
    if options.note or not (options.modules or options.sample):
        write(rows)
    return 1 if red else 0


def sample(modules: Sequence[str], count: int, day: int) -> list[str]:
    """``count`` of the modules; consecutive days take consecutive ones, so that each has its turn."""
    count = min(count, len(modules))
    return [modules[(day * count + number) % len(modules)] for number in range(count)]


# ── one module ────────────────────────────────────────────────────────────────────────────────────────────────────────


def try_module(module: str, processes: int, equal: dict[str, str]) -> Tried:
    """Try those of a module's mutants that have not been tried. Raises RuntimeError if that is impossible."""
    tests = importing_tests(module, PROJECT / "tests/unit")
    if not tests:
        raise RuntimeError(f"no unit test imports {module}")
    folder = prepared(module, tests)
    _mutmut(folder, "run", "--max-children", str(processes))
    codes = exit_codes(folder, module)
    if undone := [name for name, code in codes.items() if code in NOT_TRIED]:
        raise RuntimeError(f"{len(undone)} of {len(codes)} mutants of {module} were not tried: see {folder}")
    shown = [described(_mutmut(folder, "show", name)) for name in surviving(codes)]
    return Tried(
        len(codes),
        sorted(mutant for mutant in shown if mutant not in equal),
        {mutant: why for mutant, why in equal.items() if mutant in shown},
    )


def importing_tests(module: str, folder: Path) -> list[Path]:
    """The test files that import the module or have its name; the latter first: a mutant is dead at the first red test.

    The tests of kafka_learn look at lines of the source, which are others here.
    """
    parent, _, name = module.rpartition(".")
    forms = (f"from {module} import ", f"import {module}\n", f"from {parent} import {name}\n")
    tests = [path for path in sorted(folder.rglob("test_*.py")) if folder / "learn" not in path.parents]
    mirrored = folder.joinpath(*parent.split(".")[1:], f"test_{name}.py")
    found = [path for path in tests if path == mirrored or any(form in path.read_text() for form in forms)]
    return sorted(found, key=lambda path: path.stem != f"test_{name}")


def prepared(module: str, tests: Iterable[Path]) -> Path:
    """The folder in which mutmut works on a module: links to the sources, and its configuration."""
    folder = PROJECT / "build/mutants" / module
    (folder / "mutants").mkdir(parents=True, exist_ok=True)
    for name in ("kafka_lite", "tests"):
        _link(folder / name)
    for name in FOLDERS:
        _link(folder / "mutants" / name)
    tests = [path.relative_to(PROJECT) for path in tests]
    settings = {
        "source_paths": ["kafka_lite"],
        "only_mutate": [f"{module.replace('.', '/')}.py"],
        # What a log says is for people; and a number in an error's text is in an f-string, which stays as it is.
        "do_not_mutate_patterns": [r"^\s*logger\.", r"^\s*raise \w+\("],
        "pytest_add_cli_args_test_selection": [str(path) for path in tests],
        "use_git_change_detection": False,
        "timeout_constant": 10.0,
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    project = (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
    (folder / "pyproject.toml").write_text("\n".join([project, "[tool.mutmut]", *lines, ""]), encoding="utf-8")
    forget_survivors_of_other_tests(folder, module, tests)
    return folder


def _link(path: Path) -> None:
    if not path.is_symlink():
        path.symlink_to(PROJECT / path.name)


def forget_survivors_of_other_tests(folder: Path, module: str, tests: Iterable[Path]) -> None:
    """Have the survivors tried again if the tests have changed since."""
    digest = hashlib.sha256(b"\0".join((PROJECT / path).read_bytes() for path in tests)).hexdigest()
    noted_digest, results = folder / "tests.sha256", _results(folder, module)
    if noted_digest.exists() and noted_digest.read_text() != digest and results.exists():
        found = json.loads(results.read_text(encoding="utf-8"))
        codes = found["exit_code_by_key"]
        found["exit_code_by_key"] = codes | dict.fromkeys(surviving(codes))
        results.write_text(json.dumps(found), encoding="utf-8")
    noted_digest.write_text(digest)


def exit_codes(folder: Path, module: str) -> dict[str, int | None]:
    """The exit code of pytest for each mutant, by its name; None if it has not been tried."""
    codes: dict[str, int | None] = json.loads(_results(folder, module).read_text(encoding="utf-8"))["exit_code_by_key"]
    return codes


def surviving(codes: dict[str, int | None]) -> list[str]:
    """The mutants that no test noticed, or that no test ran."""
    return [name for name, code in codes.items() if code in (SURVIVED, NO_TESTS)]


def described(diff: str) -> str:
    """A mutant on one line, from its diff: in which function, what was there, and what is there now."""
    lines = diff.split("\n")
    name = next(line for line in lines if line.startswith("# ")).removeprefix("# ").partition(": ")[0]
    function = name.rpartition(".")[2].rpartition("__mutmut_")[0].removeprefix("x_").removeprefix("xǁ")
    removed, added = (
        " ".join(line[1:].strip() for line in lines if line.startswith(sign) and not line.startswith(3 * sign))
        for sign in "-+"
    )
    return f"{function.replace('ǁ', '.')}: {removed} → {added}"


def _results(folder: Path, module: str) -> Path:
    return folder / "mutants" / f"{module.replace('.', '/')}.py.meta"


def _mutmut(folder: Path, *arguments: str) -> str:
    """Run mutmut and return its output. Raises RuntimeError with its last words if it fails."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-m", "mutmut", *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"mutmut {' '.join(arguments)} failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


# ── the table ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_HEADS = {
    "en": ("| module | mutants | killed | equal | survive |", "all"),
    "zh": ("| 模块 | 变异体 | 被杀死 | 等价 | 存活 |", "合计"),
}


def noted() -> dict[str, Tried]:
    """The outcome when each module was last tried."""
    return {name: Tried(**row) for name, row in json.loads(NOTED.read_text(encoding="utf-8")).items()}


def table(rows: dict[str, Tried], language: str) -> str:
    """A line for each module, and their sum."""
    head, every = _HEADS[language]
    counts = {f"`{name}`": (row.made, len(row.equal), len(row.surviving)) for name, row in sorted(rows.items())}
    counts[every] = (
        sum(made for made, _, _ in counts.values()),
        sum(equal for _, equal, _ in counts.values()),
        sum(survive for _, _, survive in counts.values()),
    )
    lines = [
        f"| {name} | {made:,} | {made - equal - survive:,} | {equal} | {survive} |"
        for name, (made, equal, survive) in counts.items()
    ]
    return "\n".join([head, "|---|---|---|---|---|", *lines])


def with_table(text: str, rows: dict[str, Tried], language: str) -> str:
    """A page with its table as it should be."""
    before, _, rest = text.partition("<!-- modules -->\n")
    after = rest.partition("<!-- /modules -->")[2]
    return f"{before}<!-- modules -->\n\n{table(rows, language)}\n\n<!-- /modules -->{after}"


def write(rows: dict[str, Tried]) -> None:
    """Keep the outcome, and write the tables of the pages."""
    ordered = {name: asdict(row) for name, row in sorted(rows.items())}
    NOTED.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for language, page in PAGES.items():
        page.write_text(with_table(page.read_text(encoding="utf-8"), rows, language), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
