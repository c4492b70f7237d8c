"""The paper's constructions, one file a statement, each with its closed forms beside it."""

from symsim.constructions.a2_sum_of_tokens import sum_of_tokens as sum_of_tokens
from symsim.constructions.aggregation import AGGREGATIONS as AGGREGATIONS
from symsim.constructions.b1_as_printed import (
    quadratic_calls_as_printed as quadratic_calls_as_printed,
)
from symsim.constructions.b1_quadratic_calls import quadratic_calls as quadratic_calls
from symsim.constructions.head_input import HeadInput as HeadInput
from symsim.constructions.head_input import from_qkv as from_qkv
from symsim.constructions.head_input import from_x as from_x
from symsim.constructions.normalization_recovery import READOUTS as READOUTS
