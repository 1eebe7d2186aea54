"""The default strategy: how ``AutoSVC()`` chooses C, the width, and how far the widths may part."""

from svmselect.auto.choose import Choice, choose
from svmselect.auto.landscape import Pair

__all__ = ["Choice", "Pair", "choose"]
