"""The ports as one simulated process reaches them: late, broken or gone by the seed."""
