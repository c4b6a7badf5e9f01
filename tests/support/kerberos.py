"""A realm of MIT Kerberos with its own key distribution centre, for tests of GSSAPI.

The programs are those of Debian's packages krb5-kdc, krb5-admin-server, krb5-user and kcat. KAFKA_LITE_KERBEROS names a
folder into which the packages have been unpacked (``dpkg -x``), for machines on which they cannot be installed. Our end
needs the package ``gssapi``, which ``make setup`` installs where ``krb5-config`` is found (Debian: libkrb5-dev).
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.server.broker_process import free_port
from tests.support.program import Program

REALM = "KAFKA.TEST"
ROOT = os.environ.get("KAFKA_LITE_KERBEROS", "")
LIBRARIES = Path(f"{ROOT}/usr/lib/x86_64-linux-gnu")
PACKAGES = "krb5-kdc, krb5-admin-server, krb5-user, kcat, libsasl2-modules-gssapi-mit, libkrb5-dev"


def program(name: str) -> str | None:
    """The path of a program."""
    return shutil.which(name, path=f"{ROOT}/usr/sbin:{ROOT}/usr/bin:{os.environ['PATH']}:/usr/sbin")


def library_path() -> dict[str, str]:
    """Environment variables for programs of that folder."""
    return {"LD_LIBRARY_PATH": str(LIBRARIES), "SASL_PATH": f"{LIBRARIES}/sasl2"} if ROOT else {}


def require_kerberos() -> None:
    """Skip the test if something is not installed; fail it instead if ``KAFKA_LITE_REQUIRE_JVM=1``."""
    missing = [name for name in ("krb5kdc", "kdb5_util", "kadmin.local", "kinit", "kcat") if program(name) is None]
    missing += [] if importlib.util.find_spec("gssapi") else ["the package gssapi"]
    if missing and os.environ.get("KAFKA_LITE_REQUIRE_JVM") == "1":
        pytest.fail(f"needs {', '.join(missing)} (Debian: {PACKAGES})")
    if missing:
        pytest.skip(f"needs {', '.join(missing)} (Debian: {PACKAGES})")


class Realm:
    """The realm's files and users."""

    def __init__(self, folder: Path, port: int) -> None:
        self._folder = folder
        self.port = port
        self.config = folder / "krb5.conf"
        self.environ = {
            "KRB5_CONFIG": str(self.config),
            "KRB5_KDC_PROFILE": str(folder / "kdc.conf"),
            "KRB5RCACHEDIR": str(folder),
        }

    def run(self, name: str, *arguments: str, stdin: str = "") -> str:
        """Run a program of Kerberos; what it printed."""
        found = program(name)
        assert found is not None
        done = subprocess.run([found, *arguments], input=stdin, capture_output=True, text=True, env=self._environ())
        assert done.returncode == 0, f"{name} {arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def keytab(self, *principals: str, life: str = "1 day") -> Path:
        """A file with the keys of new principals. ``life``: of their tickets."""
        file = self._folder / f"{principals[0].replace('/', '-')}.keytab"
        for principal in principals:
            self.run("kadmin.local", "addprinc", "-randkey", "-maxlife", life, principal)
            self.run("kadmin.local", "ktadd", "-k", str(file), principal)
        return file

    def delete(self, principal: str) -> None:
        """The principal is no longer known."""
        self.run("kadmin.local", "delprinc", "-force", principal)

    def command(self) -> list[str]:
        """The key distribution centre, in the foreground."""
        environ = [f"{name}={value}" for name, value in self._environ().items() if os.environ.get(name) != value]
        return ["env", *environ, program("krb5kdc") or "", "-n"]

    def write(self) -> None:
        """The configuration and the database."""
        plugins = f"\n  db_module_dir = {LIBRARIES}/krb5/plugins/kdb" if ROOT else ""
        self.config.write_text(
            f"[libdefaults]\n  default_realm = {REALM}\n  dns_lookup_kdc = false\n  dns_lookup_realm = false\n"
            "  dns_canonicalize_hostname = false\n  rdns = false\n  udp_preference_limit = 1\n"
            f"[realms]\n  {REALM} = {{\n    kdc = 127.0.0.1:{self.port}\n  }}\n[dbmodules]{plugins}\n"
            "[logging]\n  kdc = STDERR\n"
        )
        (self._folder / "kdc.conf").write_text(
            f"[kdcdefaults]\n  kdc_listen = 127.0.0.1:{self.port}\n  kdc_tcp_listen = 127.0.0.1:{self.port}\n"
            f"[realms]\n  {REALM} = {{\n    database_name = {self._folder}/principal\n"
            f"    key_stash_file = {self._folder}/stash\n    max_life = 1d\n  }}\n"
        )
        self.run("kdb5_util", "create", "-s", "-r", REALM, "-P", "master")

    def _environ(self) -> dict[str, str]:
        return os.environ | self.environ | library_path()


@contextlib.contextmanager
def kerberos_realm(folder: Path) -> Iterator[Realm]:
    """Run a key distribution centre. This process and those that it starts use the realm meanwhile."""
    require_kerberos()
    realm = Realm(folder, free_port())
    realm.write()
    before = {name: os.environ.get(name) for name in realm.environ}
    with Program(realm.command(), folder / "kdc.log") as kdc:
        kdc.await_text("starting...")
        os.environ.update(realm.environ)
        try:
            yield realm
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
