-- Prolongs the locks of one owner, all or none.
-- KEYS   locks
-- ARGV   1 owner; 2 ttl in ms
-- answer 1 = all are still the owner's and live for ttl more; 0 = one is not, nothing was changed
for i = 1, #KEYS do
  if redis.call('GET', KEYS[i]) ~= ARGV[1] then return 0 end
end
for i = 1, #KEYS do redis.call('PEXPIRE', KEYS[i], ARGV[2]) end
return 1
