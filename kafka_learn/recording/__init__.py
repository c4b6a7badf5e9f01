"""Recording a run of code that knows nothing of it: calls, hand-overs, states, files, the wire."""
