"""Every request and answer of the protocol, a module per API, numbered as the protocol numbers them."""
