"""The array types that the annotations use; no behaviour."""

from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
Sparse: TypeAlias = "sp.csr_array[np.float64, tuple[int, int]]"
