"""The subcommands of `assay`, one module per group."""
