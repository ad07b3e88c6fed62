"""The syntactic gate behind core.ports.Parser: one service, a pool of them, one of our own, or the vendor's server.

`opening` is where to begin. Nothing is imported here: worker processes need the wire format and no client.
"""
