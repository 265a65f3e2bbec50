"""Plain loops over arrays of nodes and clusters: each function says what placement means, and runs compiled or as it
is written with the same result.

Owns: how many pods fit on a node, the order in which nodes are filled, verdicts and scores, gangs of several shapes.
Never: reads anything but its arguments; knows names; has a float.
"""
