"""The load of Kueue's own performance test, on Fairway."""
