"""MaskStudio: rules and clicks to mask, scores, weights and output."""
