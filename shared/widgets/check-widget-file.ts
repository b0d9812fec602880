import { buffer } from 'node:stream/consumers';
import { LRUCache } from 'lru-cache';
import { untilAborted } from '../platform/abort-listeners.ts';
import { DownloadError } from '../media/downloads/failure.ts';
import { ConcurrencyLimit } from '../platform/concurrency-limit.ts';
import type { Digest, Store } from '../storage/store.ts';
import { moduleFault } from './parse-module.ts';

export const widgetMimeTypes = { js: 'text/javascript', css: 'text/css' } as const;
export type WidgetFileKind = keyof typeof widgetMimeTypes;

/** Widget files are read into memory. This limit also bounds the cost of checking a hostile file. */
export const maxWidgetBytes = 2 * 1024 ** 2;

/**
 * At most one check of an organization runs at once in this process, and four in all. Each check holds a file in memory,
 * and a check of a module also runs a parser process.
 */
const limit = new ConcurrencyLimit({ concurrent: 1, inAll: 4 });

/** Verdicts by kind and digest. They stay valid, because the file of a digest never changes. */
const verdicts = new LRUCache<string, Verdict>({ max: 10_000 });

/** A timeout may be the machine's fault, so its verdict expires soon. */
const timeoutTtlMs = 60_000;

/** Running checks, which organizations with the same file share. */
const checks = new Map<string, Promise<Verdict>>();

interface Verdict {
  fault: string | null;
  /** The machine was too busy for a verdict. */
  timedOut?: true;
}

/**
 * Checks a widget's downloaded file. A running check continues when its caller aborts: it takes a few seconds, and the
 * next caller reuses its verdict.
 *
 * @param file a file in the store's cache
 * @param options.organizationId the check waits for others of this organization
 * @param options.signal ends the wait
 * @throws {DownloadError} too_large; bad_type for a file that is not a self-contained module or a stylesheet, or that
 *   takes too much time or memory to parse; timeout when the machine is too busy
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
      limit.run(organizationId, signal, () => sharedCheck(key, () => check(store, file, kind))),
      signal,
    ));
  if (verdict.timedOut === true) throw new DownloadError('timeout', 'a widget could not be parsed in time');
  if (verdict.fault !== null) throw new DownloadError('bad_type', `a widget's file ${verdict.fault}`);
}

/** Returns the known verdict on a file, or joins the running check, or starts one. */
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
 * Returns the reason why a lesson cannot use these bytes as a module or a stylesheet, as the end of a sentence; null if
 * it can.
 *
 * @param signal ends the parsing of a module
 * @throws {DownloadError} timeout as {@link moduleFault} does; the signal's reason
 */
export async function widgetFileFault(
  bytes: Buffer,
  kind: WidgetFileKind,
  signal?: AbortSignal,
): Promise<string | null> {
  let text: string;
  try {
    // Browsers and archives read both as UTF-8. The decoder drops a byte order mark.
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return 'is not UTF-8 text';
  }
  if (text.trim() === '') return 'is empty';
  if (kind === 'css') return stylesheetFault(text);
  return /^\s*</.test(text) ? 'is a web page, not a module' : moduleFault(bytes, signal);
}

/** The maximum length of a JSON text that a dead link returns. Parsing 2 MiB of brackets would take a second. */
const maxErrorCharacters = 20_000;

/**
 * Recognizes web pages, which dead links often return, and JSON. Everything else may be CSS, which has no syntax
 * errors: browsers skip rules that they do not know.
 */
function stylesheetFault(text: string): string | null {
  const start = text.replace(/^(?:\s*<!--[^]*?-->)*\s*/, '');
  if (start.startsWith('<') && !start.startsWith('<!--')) return 'is a web page, not a stylesheet';
  if (text.includes('\0')) return 'is not a stylesheet';
  if (text.length > maxErrorCharacters || !/^\s*[[{"]/.test(text)) return null;
  try {
    JSON.parse(text);
    return 'is JSON, not a stylesheet';
  } catch {
    return null;
  }
}
