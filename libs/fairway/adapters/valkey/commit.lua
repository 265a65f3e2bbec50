-- Commits steps, each all or nothing. ARGV: prefix, epoch, request (msgpack), blobs.
-- request: {steps, outbox table, outbox key, done keys, lease name, lease token}; step: {payload, ops};
-- op: {1, table, key, rev, expected rev or -1, value} or {2, table, key, amount, most or false}; payload and value
-- are numbers of blobs, 0 is none. A step that builds upon a row of a refused one is refused. The payloads of taken
-- steps are kept under the outbox key, as netstrings.
-- Returns "WIPED", "FENCED", or one digit per step (1 taken, 0 refused).
local prefix, epoch = ARGV[1], ARGV[2]
local server = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
if redis.call('GET', prefix .. ':epoch') ~= epoch .. '@' .. server then return 'WIPED' end
local request = cmsgpack.unpack(ARGV[3])
local steps, outbox, key, done, lease, token = unpack(request)
if lease ~= '' and redis.call('GET', prefix .. ':fence:' .. lease) ~= tostring(token) then return 'FENCED' end

local hashes = {}
local function hash(table)
  local found = hashes[table]
  if not found then
    found = prefix .. ':t:' .. table
    hashes[table] = found
  end
  return found
end

local function followed(table)
  return table == 'clusters' or string.sub(table, 1, 6) == 'nodes/' or string.sub(table, 1, 7) == 'ledger/'
end

-- Tables that are listed in pages: their keys are kept in order beside them.
local function listed(table) return table == 'jobs' or table == 'live' or table == 'held' end

-- Rows that refused steps were to write: a later step may expect the rev that they would have had, and another one's
-- row may have that rev by now.
local missed = {}

-- Counters by table and key: what those are now that were asked for, and what the steps that were taken add. It is
-- written once for all of them, at the end: many steps of a commit count at the same nodes of the quota tree. What Lua
-- could not count exactly is written before, and asked for anew.
local EXACT = 2 ^ 53
local known, added = {}, {}
local function of(kept, table)
  local those = kept[table]
  if not those then
    those = {}
    kept[table] = those
  end
  return those
end

local function write(table, key, amount)
  redis.call('HINCRBY', hash(table), key, string.format('%.0f', amount))
end

local function add(table, key, amount)
  local sums, now = of(added, table), of(known, table)
  local before = sums[key] or 0
  if math.abs(before + amount) >= EXACT then
    write(table, key, before)
    before = 0
  end
  sums[key] = before + amount
  local after = now[key] and now[key] + amount
  now[key] = after and math.abs(after) < EXACT and after or nil
end

local function value(table, key)
  local now, sums = of(known, table), of(added, table)
  if now[key] then return now[key] end
  local stored = tonumber(redis.call('HGET', hash(table), key) or '0')
  if math.abs(stored) >= EXACT and sums[key] then
    write(table, key, sums[key])
    sums[key] = nil
    stored = tonumber(redis.call('HGET', hash(table), key))
  end
  local found = stored + (sums[key] or 0)
  if math.abs(stored) < EXACT and math.abs(found) < EXACT then now[key] = found end
  return found
end

local function refused(op)
  if op[1] == 1 then
    if op[5] < 0 then return false end
    if missed[op[2] .. '\n' .. op[3]] then return true end
    local row = redis.call('HGET', hash(op[2]), op[3])
    local rev = 0
    if row then rev = tonumber(string.match(row, '^(%d+)|')) end
    return rev ~= op[5]
  end
  if not op[5] then return false end
  return value(op[2], op[3]) + op[4] > op[5]
end

-- Of rows that are gone only the newest changes are kept, so many of them: each attempt of each job has a row of the
-- ledger. Who follows from before `forgotten` begins anew.
local MOST_GONE, AT_ONCE = 20000, 1000

-- `new`: a row that was not there before, which may have been gone.
local function changed(name, gone, new)
  local version = redis.call('INCR', prefix .. ':version')
  redis.call('ZADD', prefix .. ':changes', version, name)
  if new then redis.call('ZREM', prefix .. ':gone', name) end
  if not gone then return end
  redis.call('ZADD', prefix .. ':gone', version, name)
  if redis.call('ZCARD', prefix .. ':gone') < MOST_GONE + AT_ONCE then return end
  local oldest = redis.call('ZPOPMIN', prefix .. ':gone', AT_ONCE)
  local names = {}
  for index = 1, #oldest, 2 do names[#names + 1] = oldest[index] end
  redis.call('ZREM', prefix .. ':changes', unpack(names))
  redis.call('SET', prefix .. ':forgotten', oldest[#oldest])
end

local function apply(op)
  if op[1] == 2 then
    add(op[2], op[3], op[4])
    return
  end
  local new = false
  if op[6] > 0 then
    new = redis.call('HSET', hash(op[2]), op[3], ARGV[3 + op[6]]) == 1
    if new and listed(op[2]) then redis.call('ZADD', prefix .. ':keys:' .. op[2], 0, op[3]) end
  else
    redis.call('HDEL', hash(op[2]), op[3])
    if listed(op[2]) then redis.call('ZREM', prefix .. ':keys:' .. op[2], op[3]) end
  end
  if followed(op[2]) then changed(op[2] .. '\n' .. op[3], op[6] == 0, new) end
end

if #done > 0 then redis.call('HDEL', hash(outbox), unpack(done)) end
local taken, said = {}, {}
for index, step in ipairs(steps) do
  local ok = true
  for _, op in ipairs(step[2]) do
    if refused(op) then ok = false break end
  end
  if ok then
    for _, op in ipairs(step[2]) do apply(op) end
    if step[1] > 0 then
      local words = ARGV[3 + step[1]]
      said[#said + 1] = #words .. ':' .. words
    end
  end
  if not ok then
    for _, op in ipairs(step[2]) do
      if op[1] == 1 then missed[op[2] .. '\n' .. op[3]] = true end
    end
  end
  taken[index] = ok and '1' or '0'
end
for table, sums in pairs(added) do
  for key, amount in pairs(sums) do write(table, key, amount) end
end
if #said > 0 then redis.call('HSET', hash(outbox), key, '0|' .. table.concat(said)) end
return table.concat(taken)
