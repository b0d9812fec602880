import { buffer } from 'node:stream/consumers';
import { LRUCache } from 'lru-cache';
import { onAbort } from '../platform/abort-listeners.ts';
import { DownloadError } from '../media/downloads/failure.ts';
import { DownloadSlots } from '../media/downloads/slots.ts';
import type { Digest, Store } from '../storage/store.ts';
import { moduleFault } from './parse-module.ts';

export const widgetMimeTypes = { js: 'text/javascript', css: 'text/css' } as const;
export type WidgetFileKind = keyof typeof widgetMimeTypes;

/** A widget's file is read whole before it is used. This limit also bounds what a hostile file costs to check. */
export const maxWidgetBytes = 2 * 1024 ** 2;

/**
 * Two checks run at once in this process, and one for each organization: each holds a file in memory, and that of a
 * module runs a parser besides.
 */
const slots = new DownloadSlots({ perHost: 2, perOrganization: 1 });

/** Checks share the limits of a host: this one. */
const host = 'localhost';

/** Files never change, so verdicts stay true. Each is that of a file's kind and digest. */
const verdicts = new LRUCache<string, Verdict>({ max: 10_000 });

/** How long a verdict stands that may be the machine's fault. */
const timeoutTtlMs = 60_000;

/** Checks under way, which organizations with the same file share. */
const checks = new Map<string, Promise<Verdict>>();

interface Verdict {
  fault: string | null;
  /** The machine was too busy to tell. */
  timedOut?: true;
}

/**
 * Checks a downloaded file of a widget. A check that has begun goes on when its caller leaves: it takes seconds at
 * most, and the verdict spares the next caller the same work.
 *
 * @param file in the store's cache.
 * @param options.organizationId the organization in whose turn the check runs.
 * @param options.signal ends the wait.
 * @throws {DownloadError} too_large; bad_type for a file that is no self-contained module, takes too much to parse, or
 * is no stylesheet; timeout when the machine is too busy.
 */
export async function checkWidgetFile(
  store: Store,
  file: Digest,
  kind: WidgetFileKind,
  { organizationId, signal }: { organizationId: string; signal: AbortSignal },
): Promise<void> {
  if (file.size > maxWidgetBytes) {
    throw new DownloadError(
      'too_large',
      `a widget's file has ${file.size} bytes; the limit is ${maxWidgetBytes}`,
    );
  }
  signal.throwIfAborted();
  const key = `${kind}:${file.sha256}`;
  const verdict =
    verdicts.get(key) ??
    (await untilAborted(
      slots.run({ host, organizationId }, signal, () => sharedCheck(key, () => check(store, file, kind))),
      signal,
    ));
  if (verdict.timedOut === true) throw new DownloadError('timeout', 'a widget could not be parsed in time');
  if (verdict.fault !== null) throw new DownloadError('bad_type', `a widget's file ${verdict.fault}`);
}

/** Rejects with the reason of a signal when it is aborted; what the promise stands for goes on. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(signal.reason as Error));
    void promise.then(resolve, reject).finally(stopListening);
  });
}

/** Returns what is known of a file, or joins the check of it that is under way, or starts one. */
async function sharedCheck(key: string, start: () => Promise<Verdict>): Promise<Verdict> {
  const known = verdicts.get(key) ?? checks.get(key);
  if (known !== undefined) return known;
  const started = start();
  checks.set(key, started);
  try {
    const verdict = await started;
    verdicts.set(key, verdict, verdict.timedOut === true ? { ttl: timeoutTtlMs } : {});
    return verdict;
  } finally {
    checks.delete(key);
  }
}

async function check(store: Store, file: Digest, kind: WidgetFileKind): Promise<Verdict> {
  const opened = await store.cache.open(file);
  if (opened === null) throw new Error(`${file.sha256} was evicted from the store during use`);
  try {
    return { fault: await widgetFileFault(await buffer(opened.chunks()), kind) };
  } catch (error) {
    if (!(error instanceof DownloadError) || error.reason !== 'timeout') throw error;
    return { fault: null, timedOut: true };
  } finally {
    await opened.close();
  }
}

/**
 * Returns what keeps bytes from being a module, or a stylesheet, that a lesson can use, as the end of a sentence; else
 * null.
 *
 * @param signal ends the parsing of a module.
 * @throws {DownloadError} timeout as {@link moduleFault}; the reason of the signal.
 */
export async function widgetFileFault(
  bytes: Buffer,
  kind: WidgetFileKind,
  signal?: AbortSignal,
): Promise<string | null> {
  let text: string;
  try {
    // Browsers and archives take both for UTF-8. A byte order mark is left out.
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return 'is not UTF-8 text';
  }
  if (text.trim() === '') return 'is empty';
  if (kind === 'css') return stylesheetFault(text);
  return /^\s*</.test(text) ? 'is a web page, not a module' : moduleFault(bytes, signal);
}

/**
 * CSS has no syntax errors: a browser leaves out what it does not know. So only what is plainly something else is
 * refused: a page, which is what a dead link often answers with, and JSON.
 */
function stylesheetFault(text: string): string | null {
  const start = text.replace(/^(?:\s*<!--[^]*?-->)*\s*/, '');
  if (start.startsWith('<') && !start.startsWith('<!--')) return 'is a web page, not a stylesheet';
  if (text.includes('\0')) return 'is not a stylesheet';
  if (!/^\s*[[{"]/.test(text)) return null;
  try {
    JSON.parse(text);
    return 'is JSON, not a stylesheet';
  } catch {
    return null;
  }
}
