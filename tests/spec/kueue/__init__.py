"""What Kueue's own tests say of preemption, as facts: who runs, who comes, and who has to go.

The names are those of the tables in `pkg/scheduler/preemption/preemption_test.go` of Kueue 0.13.2, all of them: of
preemption, of fair and of hierarchical preemption, and of the order of candidates; and two of 0.20. Of each case only
its facts are here: the nominal quota of a queue is the min of a leaf, with a borrowing limit the leaf has a max, a
cohort is the node above. `differences.py` has those whose answer is another one here, and why.
"""
