"""What several widgets share: the grid, its controls and styles, and the rules of a mask."""
