-- Frees what one owner holds and gives up its places; what another holds stays (compare and delete).
-- KEYS   for each resource three: lock, line, seen (as in take.lua)
-- ARGV   1 owner
-- answer number of locks that were freed
local freed = 0
for i = 1, #KEYS, 3 do
  if redis.call('GET', KEYS[i]) == ARGV[1] then freed = freed + redis.call('DEL', KEYS[i]) end
  if redis.call('HDEL', KEYS[i + 2], ARGV[1]) == 1 then redis.call('LREM', KEYS[i + 1], 1, ARGV[1]) end
end
return freed
