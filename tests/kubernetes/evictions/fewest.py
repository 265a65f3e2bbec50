"""How many jobs have to go at least: found by trying, which the scheduler does not do."""

from itertools import combinations

from tests.kubernetes.evictions.fleet import MEMBERS, NODES


def fewest(where: dict[str, set[str]], stay: set[str]) -> int:
    """Until two nodes of one member are empty. `where` are the nodes of each job; of those who `stay` none may go."""
    costs = []
    for member in MEMBERS:
        for pair in combinations([f"{member}-{number}" for number in range(NODES)], 2):
            there = {name for name, nodes in where.items() if nodes & {*pair}}
            if not there & stay:
                costs.append(len(there))
    return min(costs)
