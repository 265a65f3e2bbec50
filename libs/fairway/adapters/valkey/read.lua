-- Reads rows, whole tables and changes of one moment. ARGV: prefix, epoch, request (msgpack).
-- request: {{{table, {keys}}...}, {whole tables}, since or -1, lease name, lease token, {followed prefixes}}.
-- Returns "WIPED" (also when changes after `since` are no longer kept), "FENCED" or {rows, whole, version, changes}.
local prefix, epoch = ARGV[1], ARGV[2]
local server = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
if redis.call('GET', prefix .. ':epoch') ~= epoch .. '@' .. server then return 'WIPED' end
local request = cmsgpack.unpack(ARGV[3])
if request[4] ~= '' and redis.call('GET', prefix .. ':fence:' .. request[4]) ~= tostring(request[5]) then
  return 'FENCED'
end

local function hash(table) return prefix .. ':t:' .. table end

local function follows(name)
  for _, prefix in ipairs(request[6]) do
    if string.sub(name, 1, #prefix) == prefix then return true end
  end
  return false
end

-- Lua takes some 8,000 arguments of a call at most.
local PIECE = 4000

local function values(wanted)
  local table, keys = hash(wanted[1]), wanted[2]
  if #keys <= PIECE then return redis.call('HMGET', table, unpack(keys)) end
  local found = {}
  for start = 1, #keys, PIECE do
    local last = math.min(start + PIECE - 1, #keys)
    for offset, value in ipairs(redis.call('HMGET', table, unpack(keys, start, last))) do
      found[start + offset - 1] = value
    end
  end
  return found
end

local rows, whole, changes = {}, {}, {}
for index, wanted in ipairs(request[1]) do
  rows[index] = values(wanted)
end
for index, name in ipairs(request[2]) do
  whole[index] = redis.call('HGETALL', hash(name))
end
local version = redis.call('GET', prefix .. ':version') or '0'
if request[3] > 0 and request[3] < tonumber(redis.call('GET', prefix .. ':forgotten') or '0') then return 'WIPED' end
if request[3] >= 0 then
  local names = redis.call('ZRANGEBYSCORE', prefix .. ':changes', '(' .. string.format('%.0f', request[3]), '+inf')
  for _, name in ipairs(names) do
    if follows(name) then
      local cut = string.find(name, '\n', 1, true)
      changes[#changes + 1] = {name, redis.call('HGET', hash(string.sub(name, 1, cut - 1)), string.sub(name, cut + 1))}
    end
  end
end
return {rows, whole, version, changes}
