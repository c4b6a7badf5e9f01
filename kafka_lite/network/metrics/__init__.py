"""What the network layer counts: connections, bytes, requests and their times."""
