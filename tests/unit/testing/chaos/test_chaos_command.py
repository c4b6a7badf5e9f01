"""The end of ``make chaos``: its table, its exit code, and the folder that is kept."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_lite.testing.chaos import command
from kafka_lite.testing.chaos.chaos_run import ChaosRun, Result
from kafka_lite.testing.chaos.faults import Kind
from kafka_lite.testing.history.checker import Violation, check
from kafka_lite.testing.history.transactions import Outcome


def finished(run: ChaosRun, *, is_good: bool) -> Result:
    """The result of a run with one record, which is lost unless the run is good."""
    result = run.result
    history = result.history
    history.acknowledge(history.send("p", "orders", 0, "p-0"), 0)
    if is_good:
        history.store("orders", 0, 0, "p-0")
    result.faults[Kind.KILL] += 2
    result.violations = check(history)
    return result


def test_a_violation_is_printed_and_the_history_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(ChaosRun, "run", lambda run: finished(run, is_good=False))
    assert command.main(["--seed", "5", "--dir", str(tmp_path)]) == 1
    output = capsys.readouterr().out
    assert "lost write: 'p-0' was acknowledged at orders-0 at 0, and is not there" in output.replace("\n", " ")
    (folder,) = tmp_path.iterdir()
    assert f"The history, the logs and the data are in {folder}" in output
    assert (folder / "clients").is_dir()


def test_a_good_run_leaves_nothing_and_says_what_it_did(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(ChaosRun, "run", lambda run: finished(run, is_good=True))
    assert command.main(["--seed", "5", "--dir", str(tmp_path)]) == 0
    rows = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in capsys.readouterr().out.splitlines()
        if line.startswith("│")
    ]
    assert ["kill -9 of a broker", "2"] in rows
    assert ["records acknowledged", "1"] in rows
    assert ["violations", "0"] in rows
    assert list(tmp_path.iterdir()) == []


def test_security_is_for_our_own_brokers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    secured = []

    def run(run: ChaosRun) -> Result:
        secured.append(run._security is not None)
        return finished(run, is_good=True)

    monkeypatch.setattr(ChaosRun, "run", run)
    for options in ([], ["--security"]):
        assert command.main(["--seed", "5", "--dir", str(tmp_path), *options]) == 0
    assert secured == [False, True]
    with pytest.raises(SystemExit):
        command.main(["--security", "--kafka", "3.9.1"])
    assert "--security: only with our own brokers" in capsys.readouterr().err


def test_transactions_are_counted_by_what_their_producers_know(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def run(run: ChaosRun) -> Result:
        history = run.result.history
        initialization = history.begin_initialization("id", "p.0")
        for number, outcome in enumerate((Outcome.COMMITTED, Outcome.COMMITTED, Outcome.UNKNOWN)):
            history.end_transaction(history.begin_transaction(initialization, f"p.0-{number}"), outcome)
        return run.result

    monkeypatch.setattr(ChaosRun, "run", run)
    assert command.main(["--seed", "5", "--dir", str(tmp_path), "--clients", "transactions"]) == 0
    counts = dict(re.findall(r"│ (.+?) +│ +([\d,]+) │", capsys.readouterr().out))
    assert counts["initializations of transactional ids"] == "1"
    assert [counts[f"transactions {outcome.value}"] for outcome in Outcome] == ["2", "0", "1"]


def test_a_violation_names_its_rule() -> None:
    assert str(Violation("lost write", "gone")) == "lost write: gone"


@pytest.mark.parametrize("arguments", [["--brokers", "2"], ["--kinds", "kill,flood"]])
def test_what_cannot_be_run_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err
