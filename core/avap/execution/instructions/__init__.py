"""The instructions of the machine: each is one step, with what it needs to know."""
