"""What Assay does with its ports: answer, judge, compare."""
