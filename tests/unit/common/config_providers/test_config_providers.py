import re
from pathlib import Path

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.common.config_providers.config_transformer import ConfigTransformer
from kafka_lite.common.config_providers.directory_config_provider import DirectoryConfigProvider
from kafka_lite.common.config_providers.env_var_config_provider import EnvVarConfigProvider
from kafka_lite.common.config_providers.file_config_provider import FileConfigProvider


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    (tmp_path / "secrets.properties").write_text("user=me\npassword = a:b=c \n")
    (tmp_path / "token").write_text("xyz\n")
    return tmp_path


def test_a_file(secrets: Path) -> None:
    provider = FileConfigProvider()
    assert provider.get(f"{secrets}/secrets.properties", {"user", "password", "none"}) == {
        "user": "me",
        "password": "a:b=c ",
    }
    assert provider.get("", {"user"}) == {}
    with pytest.raises(ConfigError, match="Could not read properties from file /no/such"):
        provider.get("/no/such", {"user"})


def test_a_directory(secrets: Path) -> None:
    (secrets / "folder").mkdir()
    (secrets / "binary").write_bytes(b"\xff")
    provider = DirectoryConfigProvider()
    assert provider.get(str(secrets), {"token", "folder", "none"}) == {"token": "xyz\n"}
    assert provider.get(f"{secrets}/token", {"token"}) == {}
    with pytest.raises(ConfigError, match="Could not read the files of directory"):
        provider.get(str(secrets), {"binary"})


@pytest.mark.parametrize("provider", [FileConfigProvider(), DirectoryConfigProvider()])
def test_paths_that_are_not_allowed(provider: FileConfigProvider | DirectoryConfigProvider, secrets: Path) -> None:
    allowed = secrets / "allowed"
    allowed.mkdir()
    (allowed / "link").symlink_to(secrets / "secrets.properties")
    provider.configure({"allowed.paths": f"{allowed}, {allowed}"})
    for path in ("secrets.properties", "allowed/../secrets.properties", "allowed/link", "."):
        assert provider.get(f"{secrets}/{path}", {"user", "token"}) == {}
    (allowed / "own").write_text("user=you")
    assert FileConfigProvider.get(provider, f"{allowed}/own", {"user"}) == {"user": "you"}  # type: ignore[arg-type]


@pytest.mark.parametrize(("path", "problem"), [("secrets", "absolute"), ("/no/such", "does not exist")])
def test_allowed_paths_exist(path: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        FileConfigProvider().configure({"allowed.paths": path})


def test_environment_variables() -> None:
    provider = EnvVarConfigProvider({"DB_USER": "me", "HOME": "/root"})
    assert provider.get("", {"DB_USER", "HOME", "NONE"}) == {"DB_USER": "me", "HOME": "/root"}
    provider.configure({"allowlist.pattern": "DB_.*"})
    assert provider.get("", {"DB_USER", "HOME"}) == {"DB_USER": "me"}
    with pytest.raises(ConfigError, match="Path is not supported for EnvVarConfigProvider, invalid value '/x'"):
        provider.get("/x", {"HOME"})
    with pytest.raises(ConfigError, match="Not a regular expression"):
        provider.configure({"allowlist.pattern": "("})
    assert "PATH" in EnvVarConfigProvider().get("", {"PATH"})


def test_references_anywhere_in_a_value(secrets: Path) -> None:
    transformer = ConfigTransformer({"file": FileConfigProvider(), "env": EnvVarConfigProvider({"HOST": "db"})})
    file = f"{secrets}/secrets.properties"
    assert transformer.transform(
        {"url": f"pg://${{file:{file}:user}}@${{env:HOST}}/x", "plain": "x", "regex": "a${1}", "other": "${vault:a:b}"}
    ) == {"url": "pg://me@db/x", "plain": "x", "regex": "a${1}", "other": "${vault:a:b}"}
    assert transformer.has_references("x${env:HOST}")
    assert not transformer.has_references("${topic}-${vault:a:b}")


def test_a_missing_value_is_named(secrets: Path) -> None:
    transformer = ConfigTransformer({"env": EnvVarConfigProvider({})})
    message = "Invalid value ${env:PW} for configuration db: The config provider env has no value for ${env:PW}"
    with pytest.raises(ConfigError, match=re.escape(message)):
        transformer.transform({"db": "${env:PW}"})
