"""The laboratory: everything that runs Fairway on this machine to try it, prove it or measure it. Servers, fleets,
simulated and real clusters, the demo, traces, benchmarks, simulation. Nothing in the product imports it; its commands
are found by `fairway` where the package `fairway-lab` is installed."""
