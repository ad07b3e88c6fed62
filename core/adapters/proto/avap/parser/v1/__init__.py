"""Version 1 of the parser service."""
