"""Topics and configurations changed by request: validation, the change, and waiting for it to be seen."""
