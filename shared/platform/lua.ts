/* What scripts that run inside Redis have in common. */

/** Sets `now` to the time by the clock of Redis, in milliseconds: processes have clocks of their own. */
export const nowInLua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;
