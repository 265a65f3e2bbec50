"""Evictions as an auditor sees them: what each was for, whether it was right, and what came of the claims."""
