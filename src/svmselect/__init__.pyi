from svmselect import criteria as criteria
from svmselect import kernels as kernels
from svmselect import machine as machine
from svmselect.selection import score as score
from svmselect.selection import select as select

__version__: str
__all__ = ["__version__", "criteria", "kernels", "machine", "score", "select"]
