-- The lock of a rebuild. ARGV: prefix, owner, verb, and for "begin" and "renew" a time to live in ms, for "finish"
-- the epoch. What is made is of this life of this server (meet.lua). Returns 1, or 0 when another owner has the lock (or, for "begin", the store is filled already).
local prefix, owner, verb, word = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local lock = prefix .. ':rebuilding'
if verb == 'begin' then
  if redis.call('EXISTS', prefix .. ':epoch') == 1 then return 0 end
  if not redis.call('SET', lock, owner, 'NX', 'PX', word) then return 0 end
  local info = redis.pcall('INFO', 'server')
  local life = type(info) == 'string' and string.match(info, 'run_id:(%w+)')
  if life then redis.call('SET', prefix .. ':server', life) end
  return 1
end
if redis.call('GET', lock) ~= owner then return 0 end
if verb == 'renew' then return redis.call('PEXPIRE', lock, word) end
redis.call('SET', prefix .. ':epoch', word)
redis.call('DEL', lock)
return 1
