"""Operators of linear systems over one step, in 250 digits: writes transfer.txt, which transfer_operators.rs reads.

Needs mpmath. Run it in this folder: python3 transfer.py

A polynomial input of degree 5 is itself the output of a linear system (its derivatives, one feeding the other), and so is
a constant forcing. Together with the states they make one system z' = Z z, y = Y z, and every operator is a block of
Y Z^k exp(Z delta). None of the formulas of the crate is used. Cancellation is no concern: 250 digits absorb it.

With every operator comes its condition: the largest change of an entry when the entries of A change by one unit roundoff of
themselves, in eight random ways. No method working in double precision can promise less.
"""

import random

from mpmath import expm, factorial, mp, mpf, zeros

mp.dps = 250
DEGREE = 5
INPUTS = OUTPUTS = 2
ROUNDOFF = mpf(2) ** -53


def mixed(eigenvalues):
    """A matrix with about these eigenvalues and no special direction, its entries rounded to doubles."""
    n = len(eigenvalues)
    basis = mp.matrix(n, n)
    for i in range(n):
        for j in range(n):
            basis[i, j] = 1 if i == j else mpf((3 * i + 5 * j) % 7 - 3) / 8
    similar = basis * mp.diag(eigenvalues) * basis**-1
    return [[float(similar[i, j]) for j in range(n)] for i in range(n)]


CASES = {
    "zero": (0.7, [[0, 0], [0, 0]]),
    "nilpotent": (2.0, [[0, 1, 3, -2], [0, 0, 2, 1], [0, 0, 0, 1], [0, 0, 0, 0]]),
    "nilpotent, full": (1.5, [[6, -9], [4, -6]]),
    "nearly defective 1e-12": (2.0, [[-1, 1], [1e-12, -1]]),
    "nearly defective 1e-8": (1.0, [[-2, 1, 0], [0, -2, 1], [1e-8, 0, -2]]),
    "nearly defective, stiff": (1.0, [[-1e3, 1e3, 0], [0, -1e3, 1e3], [1e-10, 0, -1e3]]),
    "singular": (3.0, [[0, 1], [0, -3]]),
    "singular, stiff": (10.0, [[-1e3, 1e3, 0], [1e3, -1e3 - 1, 1], [0, 1, -1]]),
    "stiff": (0.5, [[-1e6, 3], [2, -1]]),
    "stiff, following": (1.0, [[-1e6, 1e6], [0.5, -1]]),
    "stiff, feeding": (1.0, [[-1e6, 0.5], [1e6, -1]]),
    "stiff, three time scales": (1.0, [[-1e6, 1e6, 0], [0, -1e3, 1e3], [-0.2, 0.1, -1]]),
    "stiff, mixed": (1.0, mixed([-1e6, -1e3, -1])),
    "large, decaying": (1.0, mixed([-1e3, -2e3, -5e3, -1e4])),
    "large, mixed": (1e3, mixed([-100, -10, -1, -0.001])),
    "large, fast and damped": (1.0, [[0, 1], [-1e10, -2e5]]),
    "oscillator": (100.0, [[0, 1], [-1, 0]]),
    "oscillator, other units": (1e-3, [[0, 1], [-1e10, -1]]),
    "oscillators, coupled": (1.0, [[0, 1, 0, 0], [-1e4, -1, 2e3, 0.5], [0, 0, 0, 1], [2e3, 0.5, -4e3, -1]]),
    "growing": (2.0, [[1, 2], [0.5, 3]]),
}


def filled(rows, columns, seed):
    return [[((7 * i + 3 * j + seed) * 37 % 41 - 20) / 16 for j in range(columns)] for i in range(rows)]


def operators(a, b, c, d, b_slope, d_slope, delta):
    """Per order: the operators of the powers 0 to 5, of the state and of the forcing."""
    n, chain = len(a), DEGREE + 1
    size = 2 * n + INPUTS * chain
    z, y = zeros(size, size), zeros(OUTPUTS, size)
    for i in range(n):
        for j in range(n):
            z[i, j] = a[i][j]
        z[i, n + i] = 1
    for j in range(INPUTS):
        first = 2 * n + j * chain
        for i in range(n):
            z[i, first] = b[i][j]
            z[i, first + 1] = b_slope[i][j]
        for i in range(OUTPUTS):
            y[i, first] = d[i][j]
            y[i, first + 1] = d_slope[i][j]
        for k in range(DEGREE):
            z[first + k, first + k + 1] = 1
    for i in range(OUTPUTS):
        for j in range(n):
            y[i, j] = c[i][j]
    image = y * expm(z * mpf(delta))
    found = []
    for _ in range(3):
        powers = [
            [[image[i, 2 * n + j * chain + p] * factorial(p) for j in range(INPUTS)] for i in range(OUTPUTS)]
            for p in range(chain)
        ]
        state = [[image[i, j] for j in range(n)] for i in range(OUTPUTS)]
        forcing = [[image[i, n + j] for j in range(n)] for i in range(OUTPUTS)]
        found.append(powers + [state, forcing])
        image = image * z
    return found


def perturbed(a, generator):
    sign = lambda: generator.choice([-1, 1])
    return [[mpf(entry) * (1 + sign() * ROUNDOFF) for entry in row] for row in a]


def largest_change(first, second):
    return max(abs(x - y) for one, other in zip(first, second) for x, y in zip(one, other))


def text(matrix):
    return " ".join(repr(float(entry)) for row in matrix for entry in row)


def main():
    generator = random.Random(1)
    with open("transfer.txt", "w") as table:
        table.write("# Written by transfer.py. Matrices by rows. After each operator its condition.\n")
        for name, (delta, a) in CASES.items():
            n = len(a)
            a = [[mpf(entry) for entry in row] for row in a]
            others = [filled(n, INPUTS, 1), filled(OUTPUTS, n, 2), filled(OUTPUTS, INPUTS, 3)]
            others += [filled(n, INPUTS, 4), filled(OUTPUTS, INPUTS, 5)]
            exact = operators(a, *others, delta)
            near = [operators(perturbed(a, generator), *others, delta) for _ in range(8)]
            table.write(f"case {n} {delta!r} {name}\n")
            for matrix in [a] + others:
                table.write(f"matrix {text(matrix)}\n")
            for order in range(3):
                for k, operator in enumerate(exact[order]):
                    condition = max(largest_change(operator, other[order][k]) for other in near)
                    table.write(f"operator {float(condition):.1e} {text(operator)}\n")


main()
