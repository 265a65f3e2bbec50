"""gateway: the door for people and programs.

Owns: HTTP, the hub's objects on their way in, and what is told about them there. Hears: the hub, HTTP, events of jobs.
Says: submitted, cancel, configured. Never: decides where or when a job runs, or answers from anything but the record
and the rows made of it.
"""
