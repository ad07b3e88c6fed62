"""The outside world behind the ports: each module implements one port and raises core.errors."""
