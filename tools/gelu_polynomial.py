"""The polynomial of GELU in core/encoder/kernel.inc: |x| Φ(−|x|) up to TAIL, in u = 2 |x| / TAIL − 1.

    gelu_polynomial.py

Interpolation at the Chebyshev nodes; prints the coefficients from the constant on, and the largest error of
GELU(x) = max(x, 0) − polynomial with the kernel's operations, over all numbers in single precision from −12 to 12.
"""

from __future__ import annotations

import argparse
from math import sqrt

import numpy as np
import numpy.typing as npt
from numpy.polynomial import chebyshev
from scipy.special import erfc

TAIL, DEGREE = 5.2, 14
LEAST, LARGEST = 1e-9, 12.0  # what lies below the least has the same u as 0
_AT_ONCE = 1 << 22

Floats = npt.NDArray[np.float32]


def part(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    found: npt.NDArray[np.float64] = 0.5 * x * erfc(x / sqrt(2))
    return found


def gelu(x: Floats, coefficients: Floats) -> Floats:
    """GELU as the kernel computes it: the same operations in the same groups."""
    tail = np.float32(TAIL)
    u = np.minimum(np.abs(x), tail) * (np.float32(2) / tail) - np.float32(1)
    u2 = u * u
    u4 = u2 * u2
    c = np.append(coefficients, np.float32(0))
    y0, y4, y8, y12 = ((u * c[k + 1] + c[k]) + (u * c[k + 3] + c[k + 2]) * u2 for k in (0, 4, 8, 12))
    found: Floats = np.maximum(x, np.float32(0)) - ((y0 + y4 * u4) + (y8 + y12 * u4) * (u4 * u4))
    return found


def largest_error(coefficients: Floats) -> tuple[float, float]:
    """The largest absolute error, and the number that has it."""
    first, last = np.array([LEAST, LARGEST], np.float32).view(np.int32).tolist()
    worst = (0.0, 0.0)
    for start in range(first, last + 1, _AT_ONCE):
        positive = np.arange(start, min(start + _AT_ONCE, last + 1), dtype=np.int32).view(np.float32)
        for x in (positive, -positive):
            exact = np.maximum(x.astype(float), 0) - part(positive.astype(float))
            errors = np.abs(gelu(x, coefficients) - exact)
            worst = max(worst, (float(errors.max()), float(x[errors.argmax()])))
    return worst


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    nodes = chebyshev.chebinterpolate(lambda u: part((u + 1) * TAIL / 2), DEGREE)
    coefficients = chebyshev.cheb2poly(nodes).astype(np.float32)
    print(", ".join(f"{value:.9g}" for value in coefficients))
    error, place = largest_error(coefficients)
    at_zero = gelu(np.zeros(1, np.float32), coefficients)[0]
    print(f"largest error {error:.3g} at {place:.3g}; GELU(0) = {at_zero:.2g}")


if __name__ == "__main__":
    main()
