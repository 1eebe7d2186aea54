"""Inputs made to break things: one target a file, a mutator, and the inputs that once did."""
