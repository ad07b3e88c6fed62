"""Decisions about calls (retry, budget, limits), with the clock injected. Pure."""
