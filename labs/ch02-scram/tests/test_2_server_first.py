"""Task 2: the broker answers with a salt."""

from dataclasses import replace

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.security.sasl.sasl_mechanism import SaslError
from kafka_lite.security.scram.scram_messages import ClientFirstMessage
from kafka_lite.security.scram.scram_sasl_server import ScramServerState


def refused(server, message, says):
    """The error of a first message; checks that the exchange has failed."""
    try:
        answer = server.evaluate_response(message)
    except (SaslError, ApiError) as error:
        assert server.state is ScramServerState.FAILED
        return error
    pytest.fail(f"{says}, but the broker answers {answer}")


@pytest.mark.points(7, task=2)
def test_the_second_message(server, rfc):
    """The exchange of RFC 7677"""
    end = server()
    answer = end.evaluate_response(rfc.client_first)
    assert answer == rfc.server_first, f"both nonces, then salt and iterations of the credential, not {answer}"
    assert end.state is ScramServerState.RECEIVE_CLIENT_FINAL_MESSAGE, "now the broker waits for the proof"
    assert server().evaluate_response(b"n,,n=a=2Cb=3Dc,r=x").startswith(b"r=x"), (
        "=2C is a comma in a name, =3D an equals sign"
    )
    assert server().evaluate_response(b"n,a=user,n=user,r=x"), "a client may say that it wants to be itself"


@pytest.mark.points(8, task=2)
def test_who_is_refused(server):
    """An unknown user, a token, a bad name, another user's id"""
    error = refused(server(), b"n,,n=nobody,r=x", "nobody is no user")
    assert isinstance(error, SaslError), "the client must not learn whether a user exists: a SaslError"
    error = refused(server(), b"n,,n=user,r=x,tokenauth=true", "there are no delegation tokens here")
    assert isinstance(error, SaslError), "a token is refused like an unknown user"
    error = refused(server(), b"n,a=admin,n=user,r=x", "the client wants to be admin and proves to be user")
    assert isinstance(error, ApiError), "this error the client may read: SASL_AUTHENTICATION_FAILED"
    assert error.error is Errors.SASL_AUTHENTICATION_FAILED
    error = refused(server(), b"n,a=admin,n=nobody,r=x", "nobody is no user")
    assert isinstance(error, SaslError), "an unknown user comes first: else the client would learn who exists"


@pytest.mark.points(2, task=2)
def test_a_stray_equals_sign(server):
    """The name a=b"""
    try:
        server()._client_first(ClientFirstMessage("a=b", "x"))
    except SaslError:
        return
    except (ValueError, NameError) as error:
        pytest.fail(f"an equals sign that begins nothing is a SaslError, not {type(error).__name__}")
    pytest.fail("an equals sign that begins nothing is a SaslError")


@pytest.mark.points(3, task=2)
def test_too_few_iterations(server, rfc):
    """A credential with 4,095"""
    weak = replace(rfc.credential, iterations=4095)
    error = refused(server(weak), rfc.client_first, "4,095 iterations are fewer than the minimum of 4,096")
    assert isinstance(error, SaslError)
    assert server().evaluate_response(rfc.client_first), "the minimum itself is enough"
