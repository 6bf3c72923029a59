"""The one exception for wrong use."""


class UsageError(ValueError):
    """Wrong input.  Its text is one sentence that says what to do; the shell shows it and exits with 2."""
