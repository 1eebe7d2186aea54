"""Plots for notebooks, in scikit-learn's Display convention; data apart from drawing."""
