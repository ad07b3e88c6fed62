"""The laboratory: configs, identity, the record, cells and how they run."""
