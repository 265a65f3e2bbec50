"""How often an address may show a token that was never good here. The hub is asked about each new one, and behind a
proxy everybody has one address: so a flood of one sort of token takes nothing of the other sorts."""

from enum import Enum

from fairway.gateway.callers.rate_limits import Buckets

# Tokens are renewed every hour or so: one subject has few new ones.
_OF_SUBJECT = 1
_OF_SUBJECT_AT_ONCE = 5


class AddressStanding(Enum):
    """What is known of a token before the hub is asked. What it claims itself is believed for this only: who lies about
    it is asked about in another turn, and let in no sooner."""

    KNOWN = "it was good before"
    FAMILIAR = "another token of the subject that it claims was good before"
    FORMED = "it has the form of a hub's token, and claims an issuer and a subject"
    OTHER = "nothing"
    REFUSED = "there is none, or the hub has just said no to it: it costs no question"


Subject = tuple[str, str]


class UnknownTokens:
    """`rate` is that of the tokens of each sort of one address."""

    def __init__(self, rate: int) -> None:
        self._sorts = {
            one: Buckets(rate, 2 * rate)
            for one in (AddressStanding.FORMED, AddressStanding.OTHER, AddressStanding.REFUSED)
        }
        self._subjects = Buckets(_OF_SUBJECT, _OF_SUBJECT_AT_ONCE)

    def wait(self, address: str, standing: AddressStanding, subject: Subject | None, now: int) -> int:
        """0: its token may be shown to the hub; else after how many ms to come again. A familiar subject has its own
        share; of all others of an address none has more than that of the common one."""
        if standing is AddressStanding.KNOWN:
            return 0
        if subject is not None and standing in (AddressStanding.FAMILIAR, AddressStanding.FORMED):
            wait = self._subjects.wait("\n".join((address, *subject)), now)
            if wait or standing is AddressStanding.FAMILIAR:
                return wait
        return self._sorts[standing].wait(address, now)
