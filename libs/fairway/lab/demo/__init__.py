"""The demo: a scenario of acts, played on an embedded fleet and judged from the record.

Owns: `fairway demo`. Never: knows what the acts are; they are data (script/scenario.yaml).
"""
