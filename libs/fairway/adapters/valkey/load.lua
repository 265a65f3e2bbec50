-- Writes rows of a rebuild, without guards. ARGV: prefix, owner, table, kind ("rows" or "counters"), key, value, ...
-- Returns 0 when another owner rebuilds by now. Followed tables are told as changed, and keys of listed tables are
-- kept in order, as by any commit.
local prefix, owner, name, kind = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local server = '@' .. string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
if redis.call('GET', prefix .. ':rebuilding') ~= owner .. server then return 0 end
local followed = name == 'clusters' or string.sub(name, 1, 6) == 'nodes/' or string.sub(name, 1, 7) == 'ledger/'
local listed = name == 'jobs' or name == 'live' or name == 'held'
for index = 5, #ARGV, 2 do
  redis.call('HSET', prefix .. ':t:' .. name, ARGV[index], ARGV[index + 1])
  if listed then redis.call('ZADD', prefix .. ':keys:' .. name, 0, ARGV[index]) end
  if followed and kind == 'rows' then
    redis.call('ZADD', prefix .. ':changes', redis.call('INCR', prefix .. ':version'), name .. '\n' .. ARGV[index])
  end
end
return 1
