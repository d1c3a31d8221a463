"""DotProductStepper: one query and one key, number by number."""
