"""Processes that others speak to: the parser service, the rehearsal model."""
