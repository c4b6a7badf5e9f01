"""Records what running code does, without changing it: calls, hand-overs, states, files, the wire."""
