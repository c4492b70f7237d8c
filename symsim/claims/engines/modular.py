"""The modular engine: identities at random points of two large random prime fields.

A term becomes a quotient of polynomials over ℤ in symbols and in generators exp(m/D), one for
each monomial m of its exponents, evaluated without ever being written out. Symbols and
generators get independent random residues. If the two sides are the same quotient they agree
at every point; if they are not, F = num_left·den_right − num_right·den_left is a nonzero
polynomial, and two things must go wrong for the sides to agree modulo q at a point:
q divides all coefficients of F, or the point is a zero of F modulo q (Schwartz 1980, Zippel
1979: at most degree/size of the point set). Degrees and coefficients of F are bounded from the
term, node by node, as the term is written, without cancellation. Nothing is used of `arithmetic`.

Generators that depend on each other as functions only make more sides differ: agreement is
evidence for the identity of functions, a difference is none against it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from random import Random
from typing import NamedTuple

import sympy

from symsim.claims.claim import Formula
from symsim.claims.verdict import Evidence, Kind
from symsim.terms import Kind as TermKind
from symsim.terms import Term

SEED = 20250613

_ALL = "all sizes"

_BITS = 60
_LEAST_PRIMES = 2**53
"""Primes between 2^60 and 2^61: more than 3·2^60/(5·60·ln 2) > 2^53 (Rosser, Schoenfeld 1962)."""

_ATTEMPTS = 20
_LONGEST_EXPONENT = 1000
_CREDIBLE = Fraction(1, 2**40)


class ModularEngine:
    """Identities by evaluation modulo random primes, with the probability of being wrong."""

    name = "modular"

    def __init__(self, seed: int = SEED) -> None:
        self.seed = seed

    def decide(self, claim: Formula) -> Evidence | None:
        """PROBABLE with a bound on the probability, UNDECIDED where residues differ, or None.

        Hypotheses are not used. None for inequalities and for terms that are no exponential
        quotients: maxima, inner products, positions, logarithms outside an exponent.
        """
        relation = claim.relation
        if relation.comparison != "=":
            return None
        try:
            sides = _Sides((relation.left, relation.right))
        except _NotApplicableError:
            return None
        return self._evaluated(sides)

    def _evaluated(self, sides: _Sides) -> Evidence:
        bound = sides.failure()
        if bound is None:
            return Evidence(self.name, Kind.UNDECIDED, "", ("the degree is too high",))
        random = Random(self.seed)
        lines: list[str] = []
        for _ in range(2):
            drawn = _draw(sides, random)
            if drawn is None:
                line = "a divisor is zero modulo every prime and at every point tried"
                return Evidence(self.name, Kind.UNDECIDED, "", (line,))
            if drawn.left != drawn.right:
                return Evidence(self.name, Kind.UNDECIDED, "", (f"differs modulo {drawn.where()}",))
            lines.append(f"both sides are {drawn.left} modulo {drawn.where()}")
        bits = bound.denominator.bit_length() - bound.numerator.bit_length() - 1
        chance = f"if the sides differ, this has probability below 2^-{bits} (seed {self.seed})"
        return Evidence(self.name, Kind.PROBABLE, _ALL, (chance, *lines, *sides.explained()))


class _NotApplicableError(ValueError):
    """The term is no exponential quotient."""


# -- exponents ------------------------------------------------------------------------------

Atom = tuple[str, object]
"""("symbol", name), ("exp", monomial) or ("log", term)."""

Monomial = frozenset[tuple[Atom, Fraction]]
"""Atoms with their nonzero powers, which may be negative or fractional."""

Exponent = Mapping[Monomial, Fraction]

ONE: Monomial = frozenset()


def _times(left: Monomial, right: Monomial) -> Monomial:
    powers = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, Fraction(0)) + power
    return frozenset((atom, power) for atom, power in powers.items() if power)


def _power(monomial: Monomial, power: Fraction) -> Monomial:
    return frozenset((atom, old * power) for atom, old in monomial if power)


def _sum(left: Exponent, right: Exponent, sign: int = 1) -> Exponent:
    total = dict(left)
    for monomial, coefficient in right.items():
        total[monomial] = total.get(monomial, Fraction(0)) + sign * coefficient
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def _product(left: Exponent, right: Exponent) -> Exponent:
    if len(left) * len(right) > _LONGEST_EXPONENT:
        raise _NotApplicableError("an exponent of too many terms")
    total: dict[Monomial, Fraction] = {}
    for a, x in left.items():
        for b, y in right.items():
            monomial = _times(a, b)
            total[monomial] = total.get(monomial, Fraction(0)) + x * y
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def _inverse(exponent: Exponent) -> Exponent:
    """1 over an exponent of a single term."""
    if len(exponent) != 1:
        raise _NotApplicableError("an exponent is divided by a sum or by zero")
    ((monomial, coefficient),) = exponent.items()
    return {_power(monomial, Fraction(-1)): 1 / coefficient}


def _exponential(exponent: Exponent) -> Exponent:
    """exp of an exponent, as a product of powers of ("exp", monomial)."""
    result = ONE
    for monomial, coefficient in exponent.items():
        if _logarithm(monomial, coefficient) is not None:
            raise _NotApplicableError("the exponential of a logarithm within an exponent")
        result = _times(result, frozenset({(("exp", monomial), coefficient)}))
    return {result: Fraction(1)}


def _logarithm(monomial: Monomial, coefficient: Fraction) -> tuple[Term, int] | None:
    """t and k where coefficient · monomial is k ln t; None where no logarithm occurs."""
    if all(atom[0] != "log" for atom, _ in monomial):
        return None
    if len(monomial) == 1 and coefficient.denominator == 1:
        (((_, term), power),) = monomial
        if power == 1:
            assert isinstance(term, Term)
            return term, coefficient.numerator
    raise _NotApplicableError("a logarithm in an exponent, not a whole multiple of it")


def _expanded(term: Term, known: dict[Term, Exponent]) -> Exponent:
    """`term`, an exponent, multiplied out."""
    for node in _below(term, lambda node: () if node.kind is TermKind.LOG else node.args):
        if node not in known:
            known[node] = _expanded_node(node, [known.get(arg, {}) for arg in node.args])
    return known[term]


def _expanded_node(node: Term, args: list[Exponent]) -> Exponent:
    match node.kind:
        case TermKind.COLUMN:
            return {frozenset({(("symbol", node.payload), Fraction(1))}): Fraction(1)}
        case TermKind.LOG:
            return {frozenset({(("log", node.args[0]), Fraction(1))}): Fraction(1)}
        case TermKind.CONSTANT:
            value = _rational(node)
            return {ONE: value} if value else {}
        case TermKind.ADD:
            return _sum(args[0], args[1])
        case TermKind.SUB:
            return _sum(args[0], args[1], sign=-1)
        case TermKind.NEG:
            return _sum({}, args[0], sign=-1)
        case TermKind.MUL:
            return _product(args[0], args[1])
        case TermKind.DIV:
            return _product(args[0], _inverse(args[1]))
        case TermKind.EXP:
            return _exponential(args[0])
        case kind:
            raise _NotApplicableError(f"{kind.value} in an exponent")


def _below(root: Term, operands: Callable[[Term], tuple[Term, ...]]) -> tuple[Term, ...]:
    """Every node reached from `root` through `operands` once, operands first."""
    seen: dict[Term, None] = {}
    stack = [(root, False)]
    while stack:
        term, expanded = stack.pop()
        if term in seen:
            continue
        if expanded:
            seen[term] = None
        else:
            stack.append((term, True))
            stack.extend((operand, False) for operand in reversed(operands(term)))
    return tuple(seen)


def _rational(node: Term) -> Fraction:
    assert isinstance(node.payload, Fraction)
    return node.payload


# -- bounds ---------------------------------------------------------------------------------


class _Size(NamedTuple):
    """Bounds of a quotient, uncancelled: total degrees, and bits of the sums of |coefficient|."""

    above: int
    below: int
    above_bits: int
    below_bits: int

    def plus(self, other: _Size) -> _Size:
        return _Size(
            max(self.above + other.below, other.above + self.below),
            self.below + other.below,
            max(self.above_bits + other.below_bits, other.above_bits + self.below_bits) + 1,
            self.below_bits + other.below_bits,
        )

    def times(self, other: _Size) -> _Size:
        return _Size(*(a + b for a, b in zip(self, other, strict=True)))

    def inverse(self) -> _Size:
        return _Size(self.below, self.above, self.below_bits, self.above_bits)

    def power(self, k: int) -> _Size:
        return _Size(*(abs(k) * a for a in (self if k > 0 else self.inverse())))


class _Exponential(NamedTuple):
    """exp of an exponent: powers of the generators exp(m/D), and powers of terms under ln."""

    generators: tuple[tuple[Monomial, Fraction], ...]
    terms: tuple[tuple[Term, int], ...]


class _Sides:
    """The two sides of an identity, made ready for evaluation."""

    def __init__(self, roots: tuple[Term, Term]) -> None:
        self.roots = roots
        self._known: dict[Term, Exponent] = {}
        self.exponentials: dict[Term, _Exponential] = {}
        whole = {root: _below(root, self._operands) for root in roots}
        self.order = tuple(dict.fromkeys(node for nodes in whole.values() for node in nodes))
        shares = [c.denominator for e in self.exponentials.values() for _, c in e.generators]
        self.denominator = lcm(1, *shares)
        self._sizes: dict[Term, _Size] = {}
        self._divisors = _Size(0, 0, 0, 0)
        for node in self.order:
            self._sizes[node] = self._size(node)

    def _operands(self, node: Term) -> tuple[Term, ...]:
        """What the value of `node` is computed from: an exponential's exponent is not."""
        if node.width != 1 or node.kind not in _KINDS:
            raise _NotApplicableError(f"{node.kind.value} of {node.width} columns")
        if node.kind is not TermKind.EXP:
            return node.args
        if node not in self.exponentials:
            self.exponentials[node] = _split(_expanded(node.args[0], self._known))
        return tuple(term for term, _ in self.exponentials[node].terms)

    def _size(self, node: Term) -> _Size:
        args = [self._sizes[arg] for arg in node.args if arg in self._sizes]
        match node.kind:
            case TermKind.CONSTANT:
                value = _rational(node)
                above, below = abs(value.numerator).bit_length(), value.denominator.bit_length()
                self._divisor(_Size(0, 0, below, 0))
                return _Size(0, 0, above, below)
            case TermKind.ADD | TermKind.SUB:
                return args[0].plus(args[1])
            case TermKind.MUL:
                return args[0].times(args[1])
            case TermKind.DIV:
                return args[0].times(self._divisor(args[1]).inverse())
            case TermKind.NEG:
                return args[0]
            case TermKind.EXP:
                return self._size_of_exponential(self.exponentials[node])
            case _:
                return _Size(1, 0, 0, 0)

    def _divisor(self, size: _Size) -> _Size:
        self._divisors = self._divisors.times(size)
        return size

    def _size_of_exponential(self, value: _Exponential) -> _Size:
        powers = [int(c * self.denominator) for _, c in value.generators]
        size = _Size(sum(k for k in powers if k > 0), -sum(k for k in powers if k < 0), 0, 0)
        for term, k in value.terms:
            part = self._sizes[term] if k > 0 else self._divisor(self._sizes[term])
            size = size.times(part.power(k))
        return size

    @property
    def difference(self) -> _Size:
        """Bounds of the cross-multiplied difference num_left·den_right - num_right·den_left."""
        left, right = (self._sizes[root] for root in self.roots)
        return left.plus(right)

    def failure(self) -> Fraction | None:
        """A bound on the probability that two different sides agree at both points.

        Of the points with nonzero residues (q - 1 a coordinate, q > 2^60), those where a
        divisor vanishes are rejected, at most a fraction (degree of all divisors)/(q - 1). So
        of the accepted ones at most degree(F)/(q - 1 - degree of divisors) are zeros of F.
        Likewise for primes: an integer below 2^b has at most b/60 prime factors above 2^60, so
        at most bits(F)/60 primes make F vanish, of those that leave every divisor nonzero.
        None where that bound is not small.
        """
        size, divisors = self.difference, self._divisors
        points = 2**_BITS - 1 - divisors.above
        primes = _LEAST_PRIMES - (divisors.above_bits + divisors.below_bits) // _BITS
        if points <= 0 or primes <= 0:
            return None
        once = Fraction(size.above, points) + Fraction(size.above_bits // _BITS, primes)
        bound = max(once, Fraction(1, points)) ** 2
        return bound if bound < _CREDIBLE else None

    def explained(self) -> tuple[str, ...]:
        """What the bound on the probability rests on."""
        size, divisors = self.difference, self._divisors
        return (
            f"cross-multiplied, the difference has degree at most {size.above} and integer "
            f"coefficients below 2^{size.above_bits}; all divisors have degree at most "
            f"{divisors.above} and coefficients below 2^{divisors.above_bits}",
            f"a difference other than zero vanishes at one point with probability at most "
            f"{size.above}/(2^{_BITS} - 1 - {divisors.above}), and modulo one prime with "
            f"probability at most {size.above_bits // _BITS}/2^53",
        )


_KINDS = frozenset(
    {
        TermKind.COLUMN,
        TermKind.CONSTANT,
        TermKind.ADD,
        TermKind.SUB,
        TermKind.MUL,
        TermKind.DIV,
        TermKind.NEG,
        TermKind.EXP,
    }
)


def _split(exponent: Exponent) -> _Exponential:
    """exp(exponent) by exp(Σ c m + Σ k ln t) = Π exp(m)^c · Π t^k."""
    generators, terms = [], []
    for monomial, coefficient in exponent.items():
        under = _logarithm(monomial, coefficient)
        if under is None:
            generators.append((monomial, coefficient))
        else:
            terms.append(under)
    return _Exponential(tuple(generators), tuple(terms))


# -- evaluation -----------------------------------------------------------------------------


@dataclass
class _Point:
    """Residues of symbols and generators modulo a prime, drawn when they are first asked for."""

    prime: int
    random: Random
    symbols: dict[str, int] = field(default_factory=dict)
    generators: dict[Monomial, int] = field(default_factory=dict)

    def symbol(self, name: str) -> int:
        return self.symbols.setdefault(name, self.random.randrange(1, self.prime))

    def generator(self, monomial: Monomial) -> int:
        return self.generators.setdefault(monomial, self.random.randrange(1, self.prime))


class _Drawn(NamedTuple):
    """The residues of both sides, and where."""

    left: int
    right: int
    point: _Point

    def where(self) -> str:
        shown = [f"{name} = {value}" for name, value in self.point.symbols.items()]
        if self.point.generators:
            shown.append(f"{len(self.point.generators)} exponentials")
        return f"{self.point.prime} at {', '.join(shown) or 'the one point'}"


def _draw(sides: _Sides, random: Random) -> _Drawn | None:
    """Both sides at a random point where no divisor vanishes, None if none is found."""
    for _ in range(_ATTEMPTS):
        prime = _random_prime(random)
        for _ in range(_ATTEMPTS):
            point = _Point(prime, random)
            try:
                left, right = _values(sides, point)
            except ZeroDivisionError:
                continue
            return _Drawn(left, right, point)
    return None


def _random_prime(random: Random) -> int:
    """Uniform among the primes between 2^60 and 2^61; isprime is exact below 2^64."""
    while True:
        candidate = random.randrange(2**_BITS + 1, 2 ** (_BITS + 1), 2)
        if sympy.isprime(candidate):
            return candidate


def _values(sides: _Sides, point: _Point) -> tuple[int, int]:
    """The residues of the sides; ZeroDivisionError where a divisor is zero."""
    values: dict[Term, int] = {}
    for node in sides.order:
        values[node] = _value(node, values, sides, point) % point.prime
    left, right = (values[root] for root in sides.roots)
    return left, right


def _value(node: Term, values: Mapping[Term, int], sides: _Sides, point: _Point) -> int:
    prime = point.prime
    if node.kind is TermKind.EXP:
        exponential = sides.exponentials[node]
        result = 1
        for monomial, c in exponential.generators:
            power = int(c * sides.denominator)
            result = result * pow(point.generator(monomial), power, prime) % prime
        for term, k in exponential.terms:
            result = result * _raised(values[term], k, prime) % prime
        return result
    args = [values[arg] for arg in node.args]
    match node.kind:
        case TermKind.COLUMN:
            return point.symbol(str(node.payload))
        case TermKind.CONSTANT:
            value = _rational(node)
            return value.numerator * _raised(value.denominator, -1, prime)
        case TermKind.ADD:
            return args[0] + args[1]
        case TermKind.SUB:
            return args[0] - args[1]
        case TermKind.MUL:
            return args[0] * args[1]
        case TermKind.DIV:
            return args[0] * _raised(args[1], -1, prime)
        case _:
            return -args[0]


def _raised(value: int, power: int, prime: int) -> int:
    """value^power modulo `prime`; ZeroDivisionError for a negative power of zero."""
    if power < 0 and value % prime == 0:
        raise ZeroDivisionError
    return pow(value, power, prime)
