"""gateway: the door for people and programs.

Owns: HTTP. Hears: HTTP; follows events of jobs. Says: submitted, cancel, configured.
Never: decides where or when a job runs, or answers from anything but the record and the rows made of it.
"""
