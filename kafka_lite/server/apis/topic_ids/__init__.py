"""Requests of the latest versions, whose topics have ids in place of names, for handlers that know names."""
