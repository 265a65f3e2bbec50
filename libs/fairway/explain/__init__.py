"""Answers for people: why a job stands where it does, and its story, from rows and the record. The core imports none
of it.
"""
