"""One try of a job in one cluster: what its end says, and what follows."""
