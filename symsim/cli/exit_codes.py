"""Exit codes of the command line."""

OK = 0
DIFFERS = 1  # a verdict differs, a result is not finite, or a bound is violated
USAGE = 2  # usage, malformed input, or nothing selected
ENVIRONMENT = 3
UNDECIDED = 4  # or a resource limit
INTERRUPTED = 130
PIPE_CLOSED = 141
