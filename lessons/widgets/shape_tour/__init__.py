"""ShapeTour: a batch on its way through a whole Transformer."""
