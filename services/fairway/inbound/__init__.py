"""inbound: the door for tenants on the bus (wire/inbound.py), named as what they say there.

The hub's intake and HTTP are the gateway's; this is a service on the one loop, for what it hears is stored already.
Owns: whose word it is: the tenant is that of the subject, whatever the message says. Hears: what tenants say on
`fairway.in.<tenant>.submit` and `.cancel`. Says: submitted, cancel, and dead letters for what is neither. Never:
judges a manifest or counts a tenant's jobs (admission does), or tells one tenant what another has.
"""
