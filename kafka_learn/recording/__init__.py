"""Records what running code does, from outside: calls, hand-overs, states, files, the wire."""
