"""admission: the door that understands.

Owns: reading a manifest into a job. Hears: submitted, revise. Says: admitted, or rejected with every reason found; of
another manifest of a job revised, adjust, or unchanged.
Never: guesses. What it does not understand, or what two policies claim, is refused with what to do about it.
"""
