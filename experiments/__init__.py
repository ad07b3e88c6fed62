"""Composition roots: one file per question, and the command line that runs them."""
