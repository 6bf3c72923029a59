"""Record what a rank does: the trace file, and the hooks for collectives, messages, waits and sleeps."""
