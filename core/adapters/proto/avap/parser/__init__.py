"""The parser service."""
