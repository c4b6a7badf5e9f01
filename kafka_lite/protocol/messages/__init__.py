"""All requests and responses of the protocol: one module per API, named by its key."""
