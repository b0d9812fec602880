import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { DownloadError, failureReasons } from './failure.ts';
import { renewingLease } from '../../platform/lease.ts';
import { nowInLua } from '../../platform/lua.ts';
import type { DownloadedFile } from '../../models/remote-file.ts';
import type { BestEffortRedis } from '../../platform/best-effort-redis.ts';

/** After so long without a sign of life from its holder, a lease is somebody else's. */
const leaseMs = 15_000;

/** How long builds that began before the end of a download may still take its outcome. */
const outcomeTtlMs = 600_000;

/** How often those who wait look: soon for small files, seldom for large ones. */
const firstPollMs = 20;
const maxPollMs = 250;

const digest = z.object({ sha256: z.string(), crc32: z.number(), size: z.number() });
const outcomeSchema = z.union([
  z.object({
    file: digest,
    // Workers of an earlier release do not say it.
    mimeType: z.string().nullable().default(null),
    etag: z.string().nullable(),
    lastModified: z.string().nullable(),
  }),
  z.object({ reason: z.enum(failureReasons), message: z.string(), status: z.number().optional() }),
]);

/** What came of a download: where its file is found, or why there is none. */
type Outcome = z.output<typeof outcomeSchema>;

/**
 * The key of an address holds `lease <token>` during a download, then `ended <milliseconds> <outcome>`. Gives the
 * outcome of a download that ended after the caller had begun to want it, nothing while one is under way, and the
 * caller's token when the lease is its own now.
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

/** A download. Two share an outcome where all but `since` and `signal` are equal. */
export interface WantedDownload {
  /** The owner of the slots that the download waits for: an organization waits for no other one's. */
  organizationId: string;
  url: string;
  /** A file that is refused as one type may be good as another. */
  mimeType: string;
  /** A file that is too large under one limit may be good under another. */
  maxBytes: number;
  /** Since when it is wanted, by {@link DownloadLeases.now}; no outcome from before is taken. */
  since: number;
  signal: AbortSignal;
}

/** Lets one of all processes download a URL for an organization while the others wait for the outcome. */
export interface DownloadLeases {
  /** The time, in milliseconds, by the clock of all processes. */
  now(): Promise<number>;
  /**
   * Downloads, or gives what came of a download that another had under way meanwhile. The death of its holder ends a
   * lease after 15 seconds. While Redis is away everybody downloads for themselves.
   *
   * @throws {DownloadError} that of the download; the signal's reason when it is aborted.
   */
  share(wanted: WantedDownload, download: () => Promise<DownloadedFile>): Promise<DownloadedFile>;
}

/** For a process that knows of no other. */
export const noLeases: DownloadLeases = {
  now: () => Promise.resolve(0),
  share: (_wanted, download) => download(),
};

export function createDownloadLeases(redis: BestEffortRedis, milliseconds = leaseMs): DownloadLeases {
  return {
    async now() {
      const time = await redis.try((r) => r.time());
      return time === undefined ? Number.MAX_SAFE_INTEGER : Number(time[0]) * 1000 + Number(time[1]) / 1000;
    },
    async share({ organizationId, url, mimeType, maxBytes, since, signal }, download) {
      const wanted = JSON.stringify([organizationId, maxBytes, mimeType, url]);
      const key = redis.key(`download:${createHash('sha256').update(wanted).digest('hex')}`);
      const token = randomUUID();
      const details = [token, milliseconds, Math.floor(since)];
      for (let pause = firstPollMs; ; pause = Math.min(pause * 1.5, maxPollMs)) {
        const answer = await redis.try((r) => r.eval(acquireScript, 1, key, ...details) as Promise<string>);
        if (answer === undefined) return download();
        if (answer === token) return holdWhile(redis, { key, token, milliseconds }, download);
        if (answer !== '') return read({ url, mimeType }, answer);
        await delay(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
      }
    },
  };
}

async function holdWhile(
  redis: BestEffortRedis,
  { key, token, milliseconds }: { key: string; token: string; milliseconds: number },
  download: () => Promise<DownloadedFile>,
): Promise<DownloadedFile> {
  const lease = { key, value: `lease ${token}`, leaseMs: milliseconds };
  // Without an outcome, because the build is stopped or the store is full, a waiting process takes over.
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

function read(
  { url, mimeType: declaredType }: { url: string; mimeType: string },
  text: string,
): DownloadedFile {
  const outcome = outcomeSchema.parse(JSON.parse(text));
  if ('file' in outcome) return { url, declaredType, ...outcome };
  const { reason, message, status } = outcome;
  throw new DownloadError(reason, message, { ...(status !== undefined && { status }) });
}
