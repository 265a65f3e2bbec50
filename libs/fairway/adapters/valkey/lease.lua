-- Takes or renews a lease. ARGV: prefix, name, owner, time to live in ms. Returns the fencing token, or 0.
-- The fence outlives the lease, so that a late commit of the previous owner is refused and not merely unlikely.
local prefix, name, owner, ttl = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local lease, fence = prefix .. ':lease:' .. name, prefix .. ':fence:' .. name
local holder = redis.call('GET', lease)
if holder and holder ~= owner then return 0 end
redis.call('SET', lease, owner, 'PX', ttl)
-- While a rebuild clears the store, the fence may be gone and the lease not yet.
local token = holder == owner and redis.call('GET', fence)
return token and tonumber(token) or redis.call('INCR', fence)
