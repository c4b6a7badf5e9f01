"""Task 1: the files are divided."""

from pathlib import Path

import pytest

ALL = ["lakes.csv", "rivers.csv", "towns.csv"]


def files(configs):
    return [config["files"] for config in configs]


@pytest.mark.points(8, task=1)
def test_so_many_tasks(connector):
    """Three files; one task, two, ten"""
    assert files(connector.task_configs(1)) == [",".join(ALL)], f"one task gets all: {files(connector.task_configs(1))}"
    found = files(connector.task_configs(2))
    assert len(found) <= 2, f"tasks.max is a limit: two tasks, not {len(found)}"
    assert found == ["lakes.csv,rivers.csv", "towns.csv"], f"two neighbours and one, not {found}"
    found = files(connector.task_configs(10))
    assert found == ALL, f"there are no more tasks than files: three, not {found}"


@pytest.mark.points(6, task=1)
def test_sorted(connector, monkeypatch):
    """A disk that lists files in any order"""
    glob = Path.glob
    monkeypatch.setattr(Path, "glob", lambda path, pattern: sorted(glob(path, pattern), reverse=True))
    found = files(connector.task_configs(3))
    assert found == ALL, f"sort the names: another worker may find the files in another order; yours: {found}"


@pytest.mark.points(6, task=1)
def test_configurations(connector, folder):
    """What a task gets; an empty folder"""
    (config, *_) = connector.task_configs(3)
    assert config.get("topic") == "rows", f"the connector's configuration and the files; yours: {config}"
    assert config.get("folder") == str(folder), f"the task needs the folder, too; yours: {config}"
    for file in folder.glob("*.csv"):
        file.unlink()
    found = files(connector.task_configs(3))
    assert found == [""], f"no files: one task without any, not {found}"
