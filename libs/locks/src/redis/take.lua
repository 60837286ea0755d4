-- Takes all resources or none, and keeps the line of waiting processes.
-- KEYS   for each resource three: lock (string: owner), line (list: owners, first come first),
--        seen (hash: owner -> ms by this server's clock until which its place counts)
-- ARGV   1 owner; 2 ttl in ms; 3 "1" = keep a place in the lines when the answer is no; 4 ms that a place lives
-- answer 1 = owner holds all of them; 0 = somebody holds one, or stands before the owner
local owner, ttl, queue, patience = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1', tonumber(ARGV[4])
local now = nil
local function clock()
  if now == nil then
    local t = redis.call('TIME')
    now = t[1] * 1000 + math.floor(t[2] / 1000)
  end
  return now
end

-- The first in the line that still comes back for its turn.
local function head(line, seen)
  local first = redis.call('LINDEX', line, 0)
  while first do
    local till = redis.call('HGET', seen, first)
    if till and tonumber(till) >= clock() then return first end
    redis.call('LPOP', line)
    redis.call('HDEL', seen, first)
    first = redis.call('LINDEX', line, 0)
  end
  return false
end

local free = true
for i = 1, #KEYS, 3 do
  local holder = redis.call('GET', KEYS[i])
  if holder and holder ~= owner then free = false end
  local first = head(KEYS[i + 1], KEYS[i + 2])
  if first and first ~= owner then free = false end
end

for i = 1, #KEYS, 3 do
  if free then
    redis.call('SET', KEYS[i], owner, 'PX', ttl)
    if redis.call('HDEL', KEYS[i + 2], owner) == 1 then redis.call('LREM', KEYS[i + 1], 1, owner) end
  elseif queue then
    if redis.call('HSET', KEYS[i + 2], owner, clock() + patience) == 1 then redis.call('RPUSH', KEYS[i + 1], owner) end
    redis.call('PEXPIRE', KEYS[i + 1], patience * 10)
    redis.call('PEXPIRE', KEYS[i + 2], patience * 10)
  end
end
return free and 1 or 0
