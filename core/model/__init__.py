"""Frozen data that crosses module boundaries: values, their identity, and nothing that touches the world."""
