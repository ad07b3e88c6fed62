"""Arithmetic over verdicts and scores. Pure."""
