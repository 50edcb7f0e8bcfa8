"""The sample sets of assets/samples, of our own making: invented places, invented numbers."""
