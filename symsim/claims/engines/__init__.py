"""The engines that decide formulas and partitions, independent of each other."""
