import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { DownloadError, failureReasons } from './failure.ts';
import { renewingLease } from '../../platform/lease.ts';
import { nowInLua } from '../../platform/redis.ts';
import type { DownloadedFile } from '../../models/remote-file.ts';
import type { BestEffortRedis } from '../../platform/best-effort-redis.ts';

/** A lease expires this long after its last renewal, unless a shorter one is configured. */
export const defaultLeaseMs = 15_000;

/** Builds that began before the end of a download can use its outcome for this long. */
const outcomeTtlMs = 600_000;

/** Waiting callers poll often at first, for small files, then less often. */
const firstPollMs = 20;
const maxPollMs = 250;

const digest = z.object({ sha256: z.string(), crc32: z.number(), size: z.number() });
const outcomeSchema = z.union([
  z.object({
    file: digest,
    // Missing from workers of an earlier release.
    mimeType: z.string().nullable().default(null),
    etag: z.string().nullable(),
    lastModified: z.string().nullable(),
  }),
  z.object({ reason: z.enum(failureReasons), message: z.string(), status: z.number().optional() }),
]);

/** The outcome of a download: its file, or the reason for the failure. */
type Outcome = z.output<typeof outcomeSchema>;

/**
 * A URL's key holds `lease <token>` during a download, then `ended <milliseconds> <outcome>`. Returns the outcome of a
 * download that ended after ARGV[3], nothing while a download is running, and the caller's token when the caller
 * acquired the lease.
 */
const acquireScript = `
local held = redis.call('GET', KEYS[1]) or ''
if string.sub(held, 1, 6) == 'lease ' then return '' end
local ended, outcome = string.match(held, '^ended (%d+) (.*)$')
if ended and tonumber(ended) >= tonumber(ARGV[3]) then return outcome end
redis.call('SET', KEYS[1], 'lease ' .. ARGV[1], 'PX', ARGV[2])
return ARGV[1]
`;

const endScript = `
if redis.call('GET', KEYS[1]) ~= 'lease ' .. ARGV[1] then return 0 end
if ARGV[2] == '' then return redis.call('DEL', KEYS[1]) end
${nowInLua}
redis.call('SET', KEYS[1], string.format('ended %.0f ', now) .. ARGV[2], 'PX', ARGV[3])
return 1
`;

/** A requested download. Requests that differ only in `since` and `signal` share an outcome. */
export interface WantedDownload {
  /** The organization whose slots the download uses: organizations never wait for each other's slots. */
  organizationId: string;
  url: string;
  /** Part of the key, because a file may be invalid as one type and valid as another. */
  mimeType: string;
  /** Part of the key, because a file may exceed one limit and not another. */
  maxBytes: number;
  /** The time of the request by {@link DownloadLeases.now}; earlier outcomes are ignored. */
  since: number;
  signal: AbortSignal;
}

/**
 * Lets exactly one process download a URL for an organization, while the others wait for the outcome. Each download is
 * a lease in Redis: exclusive work whose claim expires unless its holder renews it.
 */
export interface DownloadLeases {
  /** Returns the time by Redis' clock, which all processes share, in milliseconds. */
  now(): Promise<number>;
  /**
   * Downloads, or returns the outcome of a concurrent download. A dead holder's lease expires after
   * {@link defaultLeaseMs}. While Redis is down, every caller downloads.
   *
   * @throws {DownloadError} of the download; the signal's reason when it is aborted.
   */
  share(wanted: WantedDownload, download: () => Promise<DownloadedFile>): Promise<DownloadedFile>;
}

/** Replaces the leases in a process that shares its store with no other. */
export const noLeases: DownloadLeases = {
  now: () => Promise.resolve(0),
  share: (_wanted, download) => download(),
};

export function createDownloadLeases(redis: BestEffortRedis, leaseMs = defaultLeaseMs): DownloadLeases {
  return {
    async now() {
      const time = await redis.try((r) => r.time());
      return time === undefined ? Number.MAX_SAFE_INTEGER : Number(time[0]) * 1000 + Number(time[1]) / 1000;
    },
    async share({ organizationId, url, mimeType, maxBytes, since, signal }, download) {
      const wanted = JSON.stringify([organizationId, maxBytes, mimeType, url]);
      const key = redis.key(`download:${createHash('sha256').update(wanted).digest('hex')}`);
      const token = randomUUID();
      const details = [token, leaseMs, Math.floor(since)];
      for (let pollMs = firstPollMs; ; pollMs = Math.min(pollMs * 1.5, maxPollMs)) {
        const reply = await redis.try((r) => r.eval(acquireScript, 1, key, ...details) as Promise<string>);
        if (reply === undefined) return download();
        if (reply === token) return downloadWithLease(redis, { key, token, leaseMs }, download);
        if (reply !== '') return fromOutcome({ url, mimeType }, reply);
        await delay(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
      }
    },
  };
}

async function downloadWithLease(
  redis: BestEffortRedis,
  { key, token, leaseMs }: { key: string; token: string; leaseMs: number },
  download: () => Promise<DownloadedFile>,
): Promise<DownloadedFile> {
  const lease = { key, value: `lease ${token}`, leaseMs };
  // Without an outcome (the build was aborted, or the store is full) a waiting process takes over.
  let outcome: Outcome | null = null;
  try {
    const downloaded = await renewingLease((command) => redis.try(command), lease, download);
    const { file, mimeType, etag, lastModified } = downloaded;
    outcome = { file, mimeType, etag, lastModified };
    return downloaded;
  } catch (error) {
    if (error instanceof DownloadError) {
      const { reason, message, status } = error;
      outcome = { reason, message, ...(status !== undefined && { status }) };
    }
    throw error;
  } finally {
    const text = outcome === null ? '' : JSON.stringify(outcome);
    await redis.try((r) => r.eval(endScript, 1, key, token, text, outcomeTtlMs));
  }
}

function fromOutcome(
  { url, mimeType: declaredType }: { url: string; mimeType: string },
  text: string,
): DownloadedFile {
  const outcome = outcomeSchema.parse(JSON.parse(text));
  if ('file' in outcome) return { url, declaredType, ...outcome };
  const { reason, message, status } = outcome;
  throw new DownloadError(reason, message, { ...(status !== undefined && { status }) });
}
