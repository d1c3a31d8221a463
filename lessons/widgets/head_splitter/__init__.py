"""HeadSplitter: where each number goes when heads are split."""
