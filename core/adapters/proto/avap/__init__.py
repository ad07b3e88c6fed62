"""Services about the AVAP language."""
