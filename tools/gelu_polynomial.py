"""The polynomial of GELU in core/encoder/kernel.inc: |x| Φ(−|x|) up to TAIL, in u = 2 |x| / TAIL − 1.

    gelu_polynomial.py [--degree 14]

Interpolation at the Chebyshev nodes; prints the coefficients from the constant on, and the largest error of
GELU(x) = max(x, 0) − polynomial in single precision.
"""

from __future__ import annotations

import argparse
from math import erfc, sqrt

import numpy as np
from numpy.polynomial import chebyshev

TAIL = 5.2


def part(x: float) -> float:
    return 0.5 * x * erfc(x / sqrt(2))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--degree", type=int, default=14)
    degree = parser.parse_args().degree
    nodes = chebyshev.chebinterpolate(np.vectorize(lambda u: part((u + 1) * TAIL / 2)), degree)
    coefficients = chebyshev.cheb2poly(nodes).astype(np.float32)
    print(", ".join(f"{value:.9g}" for value in coefficients))
    x = np.linspace(0, 2 * TAIL, 100_001).astype(np.float32)
    u = np.minimum(x, np.float32(TAIL)) * np.float32(2 / TAIL) - np.float32(1)
    found = np.zeros_like(u)
    for value in coefficients[::-1]:
        found = found * u + value
    print(f"largest error {np.abs(found - np.vectorize(part)(x.astype(float))).max():.2g}")


if __name__ == "__main__":
    main()
