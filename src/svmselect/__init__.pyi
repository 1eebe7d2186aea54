from svmselect import kernels as kernels
from svmselect import machine as machine

__version__: str
__all__ = ["__version__", "kernels", "machine"]
