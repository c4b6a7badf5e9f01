"""SCRAM's arithmetic: keys from a password, signatures and proofs from keys.

::

    SaltedPassword  = Hi(password, salt, iterations)           a hash, iterated to be slow
    ClientKey       = HMAC(SaltedPassword, "Client Key")
    StoredKey       = H(ClientKey)                             the broker keeps it
    ServerKey       = HMAC(SaltedPassword, "Server Key")       the broker keeps it
    AuthMessage     = client-first-bare , server-first , client-final-without-proof
    ClientSignature = HMAC(StoredKey, AuthMessage)
    ClientProof     = ClientKey XOR ClientSignature            the client sends it
    ServerSignature = HMAC(ServerKey, AuthMessage)             the broker sends it

The broker takes ClientKey back out of the proof with its own ClientSignature, and compares its hash with StoredKey.

Kafka 0.10.2: clients/.../common/security/scram/ScramFormatter.java · book 2.3.2
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

from kafka_lite.security.scram.scram_credential import ScramCredential
from kafka_lite.security.scram.scram_mechanism import ScramMechanism

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_NONCE_BITS = 130


class ScramFormatter:
    """The arithmetic with the hash of one mechanism."""

    def __init__(self, mechanism: ScramMechanism) -> None:
        self.mechanism = mechanism

    def hmac(self, key: bytes, data: bytes) -> bytes:
        """The keyed hash."""
        return hmac.digest(key, data, self.mechanism.digest)

    def hash(self, data: bytes) -> bytes:
        """The hash."""
        return hashlib.new(self.mechanism.digest, data).digest()

    def salted_password(self, password: str, salt: bytes, iterations: int) -> bytes:
        """The RFC's Hi, which is PBKDF2. As in Kafka, the password is not normalised (SASLprep)."""
        return hashlib.pbkdf2_hmac(self.mechanism.digest, password.encode(), salt, iterations)

    def client_key(self, salted_password: bytes) -> bytes:
        """The key that the client proves to know."""
        return self.hmac(salted_password, b"Client Key")

    def server_key(self, salted_password: bytes) -> bytes:
        """The key that the broker proves to know."""
        return self.hmac(salted_password, b"Server Key")

    def client_proof(self, salted_password: bytes, auth_message: bytes) -> bytes:
        """The client's proof."""
        client_key = self.client_key(salted_password)
        return xor(client_key, self.hmac(self.hash(client_key), auth_message))

    def proves(self, proof: bytes, stored_key: bytes, auth_message: bytes) -> bool:
        """Whether a proof was made with the key whose hash is ``stored_key``. Takes the same time for any proof."""
        signature = self.hmac(stored_key, auth_message)
        return len(proof) == len(signature) and hmac.compare_digest(self.hash(xor(signature, proof)), stored_key)

    def server_signature(self, server_key: bytes, auth_message: bytes) -> bytes:
        """The broker's proof."""
        return self.hmac(server_key, auth_message)

    def generate_credential(self, password: str, iterations: int) -> ScramCredential:
        """A credential with a new salt."""
        return self.credential(password, secure_random_string().encode(), iterations)

    def credential(self, password: str, salt: bytes, iterations: int) -> ScramCredential:
        """The credential of a password with this salt."""
        return self.credential_of(self.salted_password(password, salt, iterations), salt, iterations)

    def credential_of(self, salted_password: bytes, salt: bytes, iterations: int) -> ScramCredential:
        """The credential of a password that the client has salted itself, as in AlterUserScramCredentials."""
        stored_key = self.hash(self.client_key(salted_password))
        return ScramCredential(salt, stored_key, self.server_key(salted_password), iterations)


def xor(first: bytes, second: bytes) -> bytes:
    """Both byte by byte. Raises ValueError if their lengths differ."""
    return bytes(a ^ b for a, b in zip(first, second, strict=True))


def secure_random_string() -> str:
    """130 random bits in base 36: a nonce or a salt."""
    number, digits = secrets.randbits(_NONCE_BITS), ""
    while number:
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits or "0"


def sasl_name(username: str) -> str:
    """The user's name as a message has it: a comma is ``=2C``, an equals sign ``=3D``."""
    return username.replace("=", "=3D").replace(",", "=2C")


def username(name: str) -> str:
    """The name of the user in a message. Raises ValueError for an equals sign that begins nothing."""
    found = name.replace("=2C", ",")
    if "=" in found.replace("=3D", ""):
        raise ValueError(f"Invalid username: {name!r}")
    return found.replace("=3D", "=")
