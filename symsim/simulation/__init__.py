"""Simulations: what is given, run in an arithmetic, compared with dense attention, recorded."""

from symsim.simulation.case_file import read_case as read_case
from symsim.simulation.compare import Comparison as Comparison
from symsim.simulation.heads_file import read_heads as read_heads
from symsim.simulation.heads_file import sample_heads as sample_heads
from symsim.simulation.inputs import HeadData as HeadData
from symsim.simulation.inputs import InputError as InputError
from symsim.simulation.inputs import random_head as random_head
from symsim.simulation.narrate import conclusion as conclusion
from symsim.simulation.record import as_json as as_json
from symsim.simulation.record import record as record
from symsim.simulation.resources import ResourceError as ResourceError
from symsim.simulation.resources import check_resources as check_resources
from symsim.simulation.simulate import OptionError as OptionError
from symsim.simulation.simulate import Options as Options
from symsim.simulation.simulate import Simulation as Simulation
from symsim.simulation.simulate import simulate as simulate
from symsim.simulation.trace import trace_lines as trace_lines
