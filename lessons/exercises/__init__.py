"""One module per notebook: its exercises, each with the reference, the known mistakes and the hints."""
