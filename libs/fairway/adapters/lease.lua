-- Takes or renews a lease. ARGV: prefix, name, owner, time to live in ms. Returns the fencing token, or 0.
-- The fence outlives the lease, so that a late commit of the previous owner is refused and not merely unlikely.
local prefix, name, owner, ttl = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local lease, fence = prefix .. ':lease:' .. name, prefix .. ':fence:' .. name
local holder = redis.call('GET', lease)
if holder and holder ~= owner then return 0 end
redis.call('SET', lease, owner, 'PX', ttl)
if holder == owner then return tonumber(redis.call('GET', fence)) end
return redis.call('INCR', fence)
