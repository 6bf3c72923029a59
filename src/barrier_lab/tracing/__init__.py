"""Record any program that makes a process group, however it is started, without changing it."""
