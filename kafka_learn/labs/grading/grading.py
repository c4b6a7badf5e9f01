"""The grade of an answer: points that its own code has earned in a sandbox, whatever its process says of itself.

Each answer is checked twice. First its tests without a broker, with the shipped modules and git's copies of them hidden
and a canary among the tests: this shows whose code it is. Then the whole check with the broker, which cannot hide the
shipped modules, because the other brokers of a cluster run on them. A test counts if it passes wherever it runs.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from kafka_learn.labs.grader import CheckResult, TestOutcome, check
from kafka_learn.labs.grading.canary import with_canary, without_canary
from kafka_learn.labs.grading.sandbox import Limits, private_places, sandboxed, shipped_files
from kafka_learn.labs.grading.submissions import Answer, Record
from kafka_learn.labs.lab import SPARK, Lab, working_file

SPARK_MEMORY = 8 << 30


@dataclass(frozen=True)
class Grade:
    """The points of an answer; ``failure`` says why the check has not finished, ``mistake`` is the first red test."""

    lab: str
    points: int
    total: int
    tasks: dict[str, list[int]]
    failure: str
    mistake: str
    record: Record
    digest: str
    """Of the student's files: the answer that was graded."""


def grade(answer: Answer, *, hidden: Iterable[Path] = (), broker: bool = True) -> Grade:
    """Check an answer. ``hidden`` are further places that its code must not read, such as other submissions."""
    if answer.problem:
        return _grade(answer, CheckResult((), answer.problem))
    with tempfile.TemporaryDirectory(prefix="kafka-lite-grade-") as folder:
        files = _written(answer, Path(folder) / "answer")
        private = [*private_places(), *hidden]
        own = _own_tests(answer.lab, files, Path(folder), private)
        if not broker or (own.failure and not own.outcomes):
            return _grade(answer, own)
        whole = check(answer.lab, files, run=sandboxed(limits_of(answer.lab), private))
        return _grade(answer, both(own, whole))


def limits_of(lab: Lab) -> Limits:
    """Java takes more memory; nobody needs more CPU time than two cores have in the lab's time."""
    memory = SPARK_MEMORY if lab.extra == SPARK else Limits.memory
    return Limits(memory=memory, cpu_s=int(2 * lab.time_limit_s))


def _written(answer: Answer, folder: Path) -> dict[str, Path]:
    """Only the files that the lab asks for come into the sandbox."""
    folder.mkdir()
    files = {module: folder / working_file(module) for module in answer.lab.modules}
    for module, path in files.items():
        path.write_text(answer.sources[module], encoding="utf-8")
    return files


def _own_tests(lab: Lab, files: dict[str, Path], folder: Path, private: list[Path]) -> CheckResult:
    with_one, name = with_canary(lab, folder)
    # A session's workers import modules of the pipeline, so these cannot be hidden from a lab on Spark.
    shipped = [] if lab.extra == SPARK else shipped_files(lab.modules)
    run = sandboxed(limits_of(lab), [*private, *shipped])
    return without_canary(check(with_one, files, broker=False, run=run), name)


def both(own: CheckResult, whole: CheckResult) -> CheckResult:
    """The whole check, in which a test that failed on its own has failed."""
    failed = {outcome.test: outcome for outcome in own.outcomes if not outcome.passed}
    outcomes = tuple(_worse(outcome, failed.get(outcome.test)) for outcome in whole.outcomes)
    return CheckResult(outcomes, own.failure or whole.failure)


def _worse(outcome: TestOutcome, alone: TestOutcome | None) -> TestOutcome:
    return outcome if alone is None else replace(outcome, passed=False, message=alone.message or outcome.message)


def _grade(answer: Answer, result: CheckResult) -> Grade:
    red = [outcome for outcome in result.outcomes if not outcome.passed and not outcome.skipped]
    mistake = f"{red[0].title}: {red[0].message}" if red else ""
    text = "\0".join(f"{module}\0{source}" for module, source in sorted(answer.sources.items()))
    return Grade(
        answer.lab.name,
        result.score,
        max(result.total, 100),
        result.task_points(),
        result.failure,
        mistake,
        answer.record,
        hashlib.sha256(text.encode()).hexdigest()[:16],
    )
