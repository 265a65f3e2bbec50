"""What a manifest asks for and what a status means, kind by kind.

Owns: the table of job kinds, the reading of manifests, policies, queues and quota trees, and the copy that is
applied in a member cluster. Takes dictionaries and gives values. Never asks a cluster, a clock or a network.
"""
