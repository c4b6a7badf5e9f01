"""An HTTP server for the REST interfaces of Connect and of uReplicator's controller: requests are values."""
