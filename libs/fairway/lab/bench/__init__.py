"""The benchmarks: what each measures, the load it makes, and the one form in which all of them report.

Owns: `fairway bench`. Never: judges in a test how fast something was, or is imported by what it measures.
"""
