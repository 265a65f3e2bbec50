-- Asked on every new connection: was the working set made on this server, in this life of it? A replica that was promoted
-- and a server that loaded its file have what was there some time ago, with an epoch that looks as if nothing had
-- happened. Such a working set counts as lost. ARGV: prefix. Returns 1, or 0 when it was forgotten just now.
local prefix = ARGV[1]
local info = redis.pcall('INFO', 'server')
local life = type(info) == 'string' and string.match(info, 'run_id:(%w+)')
local made = redis.call('GET', prefix .. ':server')
if not life or not made or made == life then return 1 end
redis.call('DEL', prefix .. ':epoch', prefix .. ':rebuilding', prefix .. ':server')
return 0
