"""DecodingExplorer: a sentence as it is generated."""
