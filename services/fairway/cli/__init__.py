"""The command line of users: `fairway submit`, `get`, `why`, `story`, `cancel` and more, and the program that finds
all commands.
"""
