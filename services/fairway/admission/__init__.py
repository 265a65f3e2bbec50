"""admission: the door that understands.

Owns: reading a manifest into a job. Hears: submitted. Says: admitted, or rejected with every reason found.
Never: guesses. What it does not understand, or what two policies claim, is refused with what to do about it.
"""
