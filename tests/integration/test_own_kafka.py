"""The finale of the labs: a broker that is made of every function that a learner has written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from kafka_learn.labs.lab import all_labs
from kafka_learn.labs.own.own_kafka import own_kafka
from kafka_learn.labs.own.trial import TRIALS, Named, run_trials
from kafka_learn.labs.own.trial_program import OF_CONNECT, OF_STREAMS
from kafka_learn.labs.workspace import LabWorkspace, Progress
from kafka_learn.source import module_path


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_a_learner_who_has_done_every_lab_has_a_kafka_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    workspaces = [LabWorkspace(lab, tmp_path / "labs-work" / lab.name) for lab in all_labs()]
    for workspace in workspaces:
        workspace.start()
        for module, path in workspace.files().items():
            path.write_text(module_path(module).read_text())
        workspace.remember(Progress(tasks_passed=[task.number for task in workspace.lab.tasks]))
    own = own_kafka(workspaces)
    assert (own.written, own.notes) == (own.asked, ())
    (tmp_path / "broker").mkdir()
    outcomes = run_trials(own.write(tmp_path / "modules"), tmp_path / "broker")
    assert [outcome.found for outcome in outcomes if not outcome.passed] == []
    assert len(outcomes) == len(TRIALS)


@pytest.mark.soak
@pytest.mark.timeout(300)
@pytest.mark.parametrize("trials", [OF_STREAMS, OF_CONNECT], ids=["streams", "connect"])
def test_the_other_halves_are_tried_with_a_learners_modules(trials: Sequence[Named], tmp_path: Path) -> None:
    outcomes = run_trials({}, tmp_path, trials)
    assert [outcome.found for outcome in outcomes if not outcome.passed] == []
    assert len(outcomes) == len(trials)


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_a_transformation_that_keeps_what_it_must_drop_is_found(tmp_path: Path) -> None:
    module = "kafka_lite.connect.transforms.replace_field"
    shipped = module_path(module).read_text()
    wrong = tmp_path / "replace_field.py"
    wrong.write_text(shipped.replace("return name not in self._exclude and", "return", 1))
    assert wrong.read_text() != shipped
    (outcome,) = run_trials({module: wrong}, tmp_path, OF_CONNECT[-1:])
    assert "a row must be {id=0}, and there is" in outcome.found
