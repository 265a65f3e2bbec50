-- What changed after `since` in tables whose names begin with a prefix, with the rows as they are now.
-- ARGV: prefix, since, followed prefixes. Returns "WIPED" when changes after `since` are no longer kept, or
-- {{table and key, row or nothing}...}. It knows no epoch: whoever asks compares it in the same MULTI.
local prefix, since = ARGV[1], ARGV[2]
if tonumber(since) > 0 and tonumber(since) < tonumber(redis.call('GET', prefix .. ':forgotten') or '0') then
  return 'WIPED'
end

local function follows(name)
  for index = 3, #ARGV do
    if string.sub(name, 1, #ARGV[index]) == ARGV[index] then return true end
  end
  return false
end

local changes = {}
for _, name in ipairs(redis.call('ZRANGEBYSCORE', prefix .. ':changes', '(' .. since, '+inf')) do
  if follows(name) then
    local cut = string.find(name, '\n', 1, true)
    local table, key = prefix .. ':t:' .. string.sub(name, 1, cut - 1), string.sub(name, cut + 1)
    changes[#changes + 1] = {name, redis.call('HGET', table, key)}
  end
end
return changes
