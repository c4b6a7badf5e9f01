"""What is reported about Maven without Java: what is missing, and what javac would complain about."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.testing import maven


def test_missing_programs_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda program: None if program != "java" else "/usr/bin/java")
    maven.require_programs("java")
    with pytest.raises(maven.JvmUnavailableError, match="javac and mvn not found"):
        maven.require_programs("java", "javac", "mvn")
    with pytest.raises(maven.JvmUnavailableError, match="mvn not found"):
        maven.classpath("group:artifact:1")


def test_a_source_without_a_public_class_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda program: f"/usr/bin/{program}")
    with pytest.raises(KafkaError, match="no public class"):
        maven.compile_java("class Hidden {}")


def test_a_cached_class_path_is_not_resolved_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jars = [tmp_path / "a.jar", tmp_path / "b.jar"]
    resolved = []

    def resolve(coordinates: tuple[str, ...], _directory: Path, kept: Path) -> None:
        resolved.append(coordinates)
        for jar in jars:
            jar.touch()
        kept.write_text(maven.join(jars))

    monkeypatch.setattr("shutil.which", lambda program: f"/usr/bin/{program}")
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda *_args, **_options: str(tmp_path))
    monkeypatch.setattr(maven, "_resolve", resolve)
    assert maven.classpath("g:a:1") == maven.classpath("g:a:1") == jars
    assert resolved == [("g:a:1",)]
    jars[0].unlink()
    assert maven.classpath("g:a:1") == jars
    assert len(resolved) == 2


def test_maven_is_asked_for_an_artifact_or_for_its_jar_of_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Resolved by a program that only writes down what it was asked for."""
    maven_of_ours = tmp_path / "bin" / "mvn"
    maven_of_ours.parent.mkdir()
    maven_of_ours.write_text('#!/bin/sh\nfor last; do :; done\necho "$4" > "${last#-Dmdep.outputFile=}"\n')
    maven_of_ours.chmod(0o755)
    monkeypatch.setenv("PATH", str(maven_of_ours.parent), prepend=os.pathsep)
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda *_args, **_options: str(tmp_path))
    monkeypatch.setattr(maven, "require_programs", lambda *_programs: None)
    pom = maven.classpath("g:a:1", "g:b:jar:test:2")[0].read_text()
    assert "<groupId>g</groupId><artifactId>a</artifactId><version>1</version>" in pom
    assert "<artifactId>b</artifactId><type>jar</type><classifier>test</classifier><version>2</version>" in pom
