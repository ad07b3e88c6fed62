"""Ray at the edge: where cells run, and where what they share lives. Nothing below this package knows."""
