-- What changed after `since` in tables whose names begin with a prefix, with the rows as they are now; of tables whose
-- prefix has a dash before it only the rows that are gone.
-- ARGV: prefix, since, followed prefixes. Returns "WIPED" when changes after `since` are no longer kept, or
-- {{table and key, row or nothing}...}. It knows no epoch: whoever asks compares it in the same MULTI.
local prefix, since = ARGV[1], ARGV[2]
if tonumber(since) > 0 and tonumber(since) < tonumber(redis.call('GET', prefix .. ':forgotten') or '0') then
  return 'WIPED'
end

local function follows(name)
  for index = 3, #ARGV do
    local followed = ARGV[index]
    if string.sub(followed, 1, 1) == '-' then
      if string.sub(name, 1, #followed - 1) == string.sub(followed, 2) then return 'gone' end
    elseif string.sub(name, 1, #followed) == followed then
      return 'all'
    end
  end
end

local changes = {}
for _, name in ipairs(redis.call('ZRANGEBYSCORE', prefix .. ':changes', '(' .. since, '+inf')) do
  local followed = follows(name)
  if followed then
    local cut = string.find(name, '\n', 1, true)
    local table, key = prefix .. ':t:' .. string.sub(name, 1, cut - 1), string.sub(name, cut + 1)
    local row = redis.call('HGET', table, key)
    if followed == 'all' or not row then changes[#changes + 1] = {name, row} end
  end
end
return changes
