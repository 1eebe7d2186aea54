"""How hyperparameters are chosen when the user names no way: a plan over objective and searches."""
