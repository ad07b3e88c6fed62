"""The AVAP language: text in, tree and diagnostics out. Pure."""
