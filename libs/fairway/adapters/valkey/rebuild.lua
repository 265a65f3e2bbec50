-- The lock of a rebuild. ARGV: prefix, owner, verb, and for "begin" and "renew" a time to live in ms, for "finish"
-- the epoch. Returns 1, or 0 when another owner has the lock (or, for "begin", the store is filled already); for "open"
-- the epoch, or nothing when the store is not filled. "void" takes the working set of this epoch away; 0 when another
-- one is in use.
-- Epoch and lock are written with the run id of the server that is filled, and are ones on that server alone: a replica
-- that was made primary may lack the last that was written, and so may a server that reads its file again.
local prefix, owner, verb, word = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local lock, server = prefix .. ':rebuilding', '@' .. string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
local epoch = redis.call('GET', prefix .. ':epoch') or ''
local filled = string.sub(epoch, -#server) == server
if verb == 'open' then return filled and string.sub(epoch, 1, -#server - 1) end
if verb == 'begin' then
  if filled then return 0 end
  return redis.call('SET', lock, owner .. server, 'NX', 'PX', word) and 1 or 0
end
if verb == 'void' then
  if epoch ~= word .. server then return 0 end
  return redis.call('DEL', prefix .. ':epoch')
end
if redis.call('GET', lock) ~= owner .. server then return 0 end
if verb == 'renew' then return redis.call('PEXPIRE', lock, word) end
redis.call('SET', prefix .. ':epoch', word .. server)
redis.call('DEL', lock)
return 1
