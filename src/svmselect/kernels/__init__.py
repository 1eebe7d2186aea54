"""Kernels: immutable expressions with Gram matrices and their derivatives."""

from .base import Kernel, Product, Sum
from .constant import Constant
from .rbf import RBF
