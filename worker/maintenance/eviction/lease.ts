import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { renewLeaseScript } from '../../../shared/platform/lua.ts';

const leaseMilliseconds = 30_000;

const endScript = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`;

/**
 * Runs something that one process at a time may do; null, without running it, while another does. Its signal is
 * aborted when the lease is lost.
 *
 * @throws when Redis does not answer.
 */
export async function withLease<T>(
  redis: Redis,
  key: string,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const token = randomUUID();
  if ((await redis.set(key, token, 'PX', leaseMilliseconds, 'NX')) === null) return null;
  const lost = new AbortController();
  const renew = async () => {
    const kept = await redis.eval(renewLeaseScript, 1, key, token, leaseMilliseconds).catch(() => 0);
    if (kept !== 1) lost.abort(new Error(`the lease ${key} was lost`));
  };
  const timer = setInterval(() => void renew(), leaseMilliseconds / 3);
  try {
    return await run(lost.signal);
  } finally {
    clearInterval(timer);
    // It ends by itself where Redis is away.
    await redis.eval(endScript, 1, key, token).catch(() => undefined);
  }
}
