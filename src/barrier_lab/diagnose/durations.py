"""Format times and durations."""

BRIEF = 0.0995  # seconds; shorter durations are written in milliseconds


def clock(t: float) -> str:
    """Format the time at which a run was stopped: "6.0 s"; in the first tenth of a second, "9 ms"."""
    return duration(t) if 0 <= t < BRIEF else f"{t:.1f} s"


def duration(t: float) -> str:
    """Format a duration or time: "1.20 s"; below a tenth of a second, "12 ms" or "0.3 ms"."""
    if t >= 99.5:
        return f"{t:.0f} s"
    if t >= BRIEF or t < 0:
        return f"{t:.2f} s"
    if t < 0.00005:
        return "<0.1 ms"
    return f"{t * 1e3:.0f} ms" if t >= 0.00995 else f"{t * 1e3:.1f} ms"
