"""OAUTHBEARER (RFC 7628): the client shows a token, which names its user and its end."""
