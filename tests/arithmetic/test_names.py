"""Arithmetics by name."""

import pytest

from symsim.arithmetic import ARITHMETICS, UnknownArithmeticError, arithmetic

EXAMPLES = [
    name.replace("BITS", "11").replace("EMIN", "-14").replace("EMAX", "15") for name in ARITHMETICS
]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_listed_arithmetic_exists_and_knows_its_name(name):
    numbers = arithmetic(name)
    assert numbers.name == name
    assert numbers.base == ("2" if name.startswith("exact") or name.endswith("base2") else "e")


@pytest.mark.parametrize(
    "name", ["", "float63", "ball", "ball:", "ball:x", "exact:", "mp", "float16:blas", "p:1.5"]
)
def test_unknown_names_list_the_known_ones(name):
    with pytest.raises(UnknownArithmeticError, match="expected one of symbolic, exact") as error:
        arithmetic(name)
    assert repr(name) in str(error.value)
