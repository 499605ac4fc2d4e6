"""The polynomial of GELU in core/encoder/kernel.inc: |x| Φ(−|x|) up to TAIL, in u = 2 |x| / TAIL − 1.

    gelu_polynomial.py

Interpolation at the Chebyshev nodes; prints the coefficients from the constant on, and the largest error of
GELU(x) = max(x, 0) − polynomial for −12 ≤ x ≤ 12, with the kernel's operations in single precision.
"""

from __future__ import annotations

import argparse
from math import erfc, sqrt

import numpy as np
import numpy.typing as npt
from numpy.polynomial import chebyshev

TAIL, DEGREE, RANGE = 5.2, 14, 12.0

Floats = npt.NDArray[np.float32]


def part(x: float) -> float:
    return 0.5 * x * erfc(x / sqrt(2))


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


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    nodes = chebyshev.chebinterpolate(np.vectorize(lambda u: part((u + 1) * TAIL / 2)), DEGREE)
    coefficients = chebyshev.cheb2poly(nodes).astype(np.float32)
    print(", ".join(f"{value:.9g}" for value in coefficients))
    x = np.linspace(-RANGE, RANGE, 1_000_001).astype(np.float32)
    exact = np.maximum(x.astype(float), 0) - np.vectorize(part)(np.abs(x).astype(float))
    at_zero = gelu(np.zeros(1, np.float32), coefficients)[0]
    print(f"largest error {np.abs(gelu(x, coefficients) - exact).max():.3g}, GELU(0) = {at_zero:.2g}")


if __name__ == "__main__":
    main()
