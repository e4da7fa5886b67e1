"""What float64 leaves of numbers that should be equal, or zero: the tolerances that several folders share.

A tolerance with a reason of its own stands above its use, in the module that uses it.
"""

from __future__ import annotations

# Of the largest of a set of numbers: eigenvalues, lengths and sums of some thousand terms are good to 1e-13 or so of
# the largest, so what is smaller than this cannot be told from 0.
ROUNDING = 1e-12

# Of the largest entry of a matrix that should be symmetric: more than float32, whose last digit is 1.2e-7, leaves
# between the two directions of a pair. What exceeds it was measured, or meant, to differ.
UNEVEN = 1e-6

# Between these fourth powers of distances, summed over points, stay inside float64.
LARGEST, SMALLEST = 1e70, 1e-70

# Exponent beyond which exp is taken for 0, or not taken at all: exp(-745) is 0 and exp(710) is inf in float64.
LARGEST_EXPONENT = 700.0

# Put under a divisor that may be 0, so that 0 / 0 is 0: below the fourth power of the smallest distance that is read
# (1e-280, see `graph._reading`), and far enough above the smallest float64 to be divided by.
NO_DIVISOR = 1e-300

# Of the largest diagonal entry: about the rounding unit of float64 (1.1e-16). A pivot of a Cholesky factor that is
# smaller is what cancellation left of a positive number; raised to this, the factor goes on and errs by no more than
# its rounding.
PIVOT = 1e-16
