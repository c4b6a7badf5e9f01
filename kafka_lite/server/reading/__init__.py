"""Reading logs for fetch requests, and the choice of the replica that a consumer reads."""
