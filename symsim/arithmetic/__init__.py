"""Arithmetics: the kinds of number that a construction can be run with."""

from symsim.arithmetic.base import Arithmetic as Arithmetic
from symsim.arithmetic.base import Array as Array
from symsim.arithmetic.base import ConversionError as ConversionError
from symsim.arithmetic.base import Evidence as Evidence
from symsim.arithmetic.base import NotRationalError as NotRationalError
from symsim.arithmetic.base import NumberError as NumberError
from symsim.arithmetic.base import UndecidableError as UndecidableError
from symsim.arithmetic.base import UnknownArithmeticError as UnknownArithmeticError
from symsim.arithmetic.names import ARITHMETICS as ARITHMETICS
from symsim.arithmetic.names import arithmetic as arithmetic
from symsim.arithmetic.undefined import UNDEFINED as UNDEFINED
