/** Lua code for scripts in Redis: sets `now` to the time of Redis in ms, because the clocks of processes differ. */
export const nowInLua = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;
