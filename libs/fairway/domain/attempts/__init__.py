"""One try of a job in one cluster: what its end says, what follows, and when none is given up."""
