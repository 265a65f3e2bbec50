"""standin: players for what would be in a container: spark-submit with its executors, Ray's dashboards, koordlets.

Owns: saying to the real operators what the real programs would say. Pods themselves are played by kwok.
"""
