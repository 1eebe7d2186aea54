"""The targets. Each has ``seeds()``, inputs that are as they should be, and ``check(data)``.

``check`` raises where something is wrong: a promise that does not hold, or an error that is no
sentence for the user. ``TOKENS``, where there are some, are pieces that mean something in the
format.
"""
