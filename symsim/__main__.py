"""`python -m symsim`."""

import sys

from symsim.cli.main import main

sys.exit(main())
