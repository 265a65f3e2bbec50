-- The lock of a rebuild. ARGV: prefix, owner, verb, and for "begin" and "renew" a time to live in ms, for "finish"
-- the epoch. Returns 1, or 0 when another owner has the lock (or, for "begin", the store is filled already).
-- "void" takes the working set of this epoch away; 0 when another one is in use.
local prefix, owner, verb, word = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local lock = prefix .. ':rebuilding'
if verb == 'begin' then
  if redis.call('EXISTS', prefix .. ':epoch') == 1 then return 0 end
  return redis.call('SET', lock, owner, 'NX', 'PX', word) and 1 or 0
end
if verb == 'void' then
  if redis.call('GET', prefix .. ':epoch') ~= word then return 0 end
  return redis.call('DEL', prefix .. ':epoch')
end
if redis.call('GET', lock) ~= owner then return 0 end
if verb == 'renew' then return redis.call('PEXPIRE', lock, word) end
redis.call('SET', prefix .. ':epoch', word)
redis.call('DEL', lock)
return 1
