"""The exception raised for invalid usage."""


class UsageError(ValueError):
    """Invalid input.  The message is one sentence that says what to do; the CLI prints it and exits with code 2."""
