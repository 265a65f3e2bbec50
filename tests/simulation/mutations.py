"""Deliberate faults of the code, one at a time; the simulation has to find each."""

from tests.simulation import faulty_decisions as decisions
from tests.simulation import faulty_hub as hub
from tests.simulation import faulty_runtime as runtime

MUTATIONS = (
    runtime.unsaid,
    runtime.early,
    runtime.unguarded,
    runtime.chained,
    runtime.stale,
    runtime.forgetful,
    runtime.tardy,
    runtime.unmet,
    decisions.impatient,
    decisions.generous,
    decisions.greedy,
    decisions.hasty,
    decisions.uncharged,
    decisions.credulous,
    decisions.trusting,
    decisions.dateless,
    decisions.unlabelled,
    decisions.keeping,
    decisions.blind,
    decisions.deaf,
    decisions.mute,
    decisions.fearless,
    decisions.hopeful,
    decisions.gullible,
    hub.oblivious,
    hub.despairing,
    hub.mistaken,
    hub.sleeping,
    hub.overwriting,
    hub.forgiving,
    hub.stubborn,
    hub.clinging,
    hub.lawless,
)
