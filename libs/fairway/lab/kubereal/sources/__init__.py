"""What real clusters are built from: Go modules, their toolchain, definitions and examples of the operators."""
