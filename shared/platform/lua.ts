/* What scripts that run inside Redis have in common. */

/** Sets `now` to the time by the clock of Redis, in milliseconds: processes have clocks of their own. */
export const nowInLua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Lengthens a lease, KEYS[1], to ARGV[2] milliseconds from now, and gives 1; 0 where it does not hold ARGV[1]. */
export const renewLeaseScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`;
