"""Record any program that initializes a process group, without changing it and with any launcher."""
