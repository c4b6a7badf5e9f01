"""Parts that the tools share: options, logging, errors, signals, and output to a terminal or a pipe."""
