"""The metrics of the network layer: connections, bytes, requests and their times."""
