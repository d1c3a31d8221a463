"""AttentionExplorer: all heads of a model, one of them large."""
