"""Checks: each judges one sample and returns a verdict."""
