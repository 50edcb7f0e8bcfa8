"""Scripts that generate committed files, run benchmarks and simulations, and make the demo."""
