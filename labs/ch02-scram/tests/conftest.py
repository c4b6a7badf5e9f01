"""Helpers that the tests of this lab share: the exchange of RFC 7677."""

import base64

import pytest

from kafka_lite.security.sasl.sasl_mechanism import SaslError
from kafka_lite.security.scram.scram_credential import ScramCredential
from kafka_lite.security.scram.scram_formatter import ScramFormatter
from kafka_lite.security.scram.scram_mechanism import ScramMechanism
from kafka_lite.security.scram.scram_sasl_client import ScramSaslClient
from kafka_lite.security.scram.scram_sasl_server import ScramSaslServer

MECHANISM = ScramMechanism.SCRAM_SHA_256
SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
ADMIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"


class Rfc:
    """The user ``user`` with the password ``pencil``, and the four messages."""

    salt = SALT
    client_nonce, server_nonce = "rOprNGfwEbeRWgbNEkqO", "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    nonce = client_nonce + server_nonce
    client_first = f"n,,n=user,r={client_nonce}".encode()
    server_first = f"r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode()
    without_proof = f"c=biws,r={nonce}"
    proof = base64.b64decode("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
    client_final = f"{without_proof},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=".encode()
    server_final = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    auth_message = b",".join((client_first[3:], server_first, without_proof.encode()))
    salted = base64.b64decode("xKSVEDI6tPlSysH6mUQZOeeOp01r6B3fcJbodRPcYV0=")
    credential = ScramCredential(
        SALT,
        base64.b64decode("WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY="),
        base64.b64decode("wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="),
        4096,
    )


@pytest.fixture
def rfc():
    return Rfc


@pytest.fixture
def formatter():
    return ScramFormatter(MECHANISM)


@pytest.fixture
def server():
    """``server()``: the broker's end, which knows ``user``, and ``a,b=c`` with the same password."""

    def make(credential=Rfc.credential):
        users = {"user": credential, "a,b=c": credential}
        return ScramSaslServer(MECHANISM, users.get, nonce=lambda: Rfc.server_nonce)

    return make


@pytest.fixture
def client():
    """``client(password="pencil")``: the client's end, which has sent its first message."""

    def make(password="pencil"):
        made = ScramSaslClient(MECHANISM, "user", password, lambda: Rfc.client_nonce)
        made.evaluate_challenge(b"")
        return made

    return make


@pytest.fixture
def error_of():
    """``error_of(says, call, message)``: the SaslError of a message; without one, the test fails and says so."""

    def refused(says, call, message):
        try:
            answer = call(message)
        except SaslError as error:
            return error
        pytest.fail(f"{says}, but there is no SaslError, and the answer is {answer}")

    return refused


@pytest.fixture(scope="session")
def broker_settings():
    """A broker that admits by SCRAM, and the admin by PLAIN, since somebody must create the first user."""
    return {
        "listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.plaintext.plain.sasl.jaas.config": (
            f'{ADMIN} username="admin" password="admin" user_admin="admin";'
        ),
    }
