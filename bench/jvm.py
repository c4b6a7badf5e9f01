"""Real Kafka's jars, brought by Maven."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import platformdirs

KAFKA_VERSION = "3.9.1"
ARTIFACTS = (
    f"org.apache.kafka:kafka_2.13:{KAFKA_VERSION}",
    "org.slf4j:slf4j-reload4j:1.7.36",  # Kafka's log4j controller does not load without a log4j
)
MAVEN_TIMEOUT_S = 900

POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kafka-lite</groupId><artifactId>bench</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
{dependencies}  </dependencies>
</project>
"""
DEPENDENCY = "    <dependency><groupId>{0}</groupId><artifactId>{1}</artifactId><version>{2}</version></dependency>\n"


class JvmUnavailableError(Exception):
    """There is no Java, no Maven, or Maven could not bring the jars; the message says which."""


def kafka_classpath() -> str:
    """The class path of the broker; resolved once, then kept in the user's cache directory."""
    missing = [program for program in ("java", "mvn") if shutil.which(program) is None]
    if missing:
        raise JvmUnavailableError(f"{' and '.join(missing)} not found")
    digest = hashlib.sha256("\n".join(ARTIFACTS).encode()).hexdigest()[:16]
    directory = Path(platformdirs.user_cache_dir("kafka-lite", appauthor=False)) / "jvm" / "bench" / digest
    kept = directory / "classpath.txt"
    if not kept.exists() or not all(Path(jar).exists() for jar in kept.read_text().split(os.pathsep)):
        _resolve(directory, kept)
    return kept.read_text()


def _resolve(directory: Path, kept: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    pom = directory / "pom.xml"
    pom.write_text(POM.format(dependencies="".join(DEPENDENCY.format(*artifact.split(":")) for artifact in ARTIFACTS)))
    command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:build-classpath", f"-Dmdep.outputFile={kept}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=MAVEN_TIMEOUT_S, check=False)
    if done.returncode != 0 or not kept.exists():
        raise JvmUnavailableError(f"Maven did not resolve Kafka {KAFKA_VERSION}: {(done.stdout + done.stderr)[-400:]}")
