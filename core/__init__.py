"""Assay's library: what judges, counts, stores and serves. Layers are drawn in docs/architecture.md."""
