"""How large a gang of pods may be, and by which code one that is not whole is held."""

from fairway.wire.reasons import Code

CODE = Code.GANG_OF_PODS
# Together with the manifest's own: as many as one job may refer to (references.MOST_REFERENCES).
MOST_PODS = 64
