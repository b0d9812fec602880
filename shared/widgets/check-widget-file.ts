import { spawn } from 'node:child_process';
import { buffer } from 'node:stream/consumers';
import { init, parse } from 'es-module-lexer';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { DownloadError } from '../downloads/failure.ts';
import type { Digest, Store } from '../storage/store.ts';

export const widgetMimeTypes = { js: 'text/javascript', css: 'text/css' } as const;
export type WidgetFileKind = keyof typeof widgetMimeTypes;

/** A widget's file is read whole before it is used; none is larger than this. */
export const maxWidgetBytes = 16 * 1024 ** 2;

/** Checks at once in this process: each holds a file in memory, and one of a module runs a parser besides. */
const limit = pLimit(2);

const parseTimeoutMs = 60_000;
const parserMemoryMb = 256;

/** What was found of a file stands for ever: its name is the digest of its bytes. */
const verdicts = new LRUCache<string, { fault: string | null }>({ max: 10_000 });

/**
 * Checks a downloaded file of a widget.
 *
 * @param file in the store's cache.
 * @throws {DownloadError} too_large, or bad_type for what is no self-contained module or no stylesheet.
 */
export async function checkWidgetFile(store: Store, file: Digest, kind: WidgetFileKind): Promise<void> {
  if (file.size > maxWidgetBytes) {
    throw new DownloadError(
      'too_large',
      `a widget's file has ${file.size} bytes; the limit is ${maxWidgetBytes}`,
    );
  }
  const key = `${kind}:${file.sha256}`;
  const verdict = verdicts.get(key) ?? (await limit(() => check(store, file, kind)));
  verdicts.set(key, verdict);
  if (verdict.fault !== null) throw new DownloadError('bad_type', `a widget's file ${verdict.fault}`);
}

async function check(store: Store, file: Digest, kind: WidgetFileKind): Promise<{ fault: string | null }> {
  const opened = await store.cache.open(file);
  if (opened === null) throw new Error(`${file.sha256} was evicted from the store during use`);
  try {
    return { fault: await widgetFileFault(await buffer(opened.chunks()), kind) };
  } finally {
    await opened.close();
  }
}

/** What keeps bytes from being a module, or a stylesheet, that a lesson can use, as the end of a sentence; else null. */
export async function widgetFileFault(bytes: Buffer, kind: WidgetFileKind): Promise<string | null> {
  let text: string;
  try {
    // Browsers and archives take both for UTF-8. A byte order mark is left out.
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return 'is not UTF-8 text';
  }
  if (text.trim() === '') return 'is empty';
  return kind === 'js' ? ((await moduleFault(text)) ?? (await syntaxFault(bytes))) : stylesheetFault(text);
}

/** Looks at imports and exports, which takes milliseconds, and leaves the syntax to {@link syntaxFault}. */
async function moduleFault(text: string): Promise<string | null> {
  if (/^\s*</.test(text)) return 'is a web page, not a module';
  await init;
  try {
    const [imports, exports] = parse(text);
    const imported = imports.find(({ d }) => d === -1);
    if (imported !== undefined) return `imports ${JSON.stringify(imported.n)}: a widget has to be one file`;
    return exports.some(({ n }) => n === 'default') ? null : 'has no default export';
  } catch {
    return 'is not a JavaScript module';
  }
}

/**
 * Has the parser of Node.js, which is that of a browser, read a module without running it: in a process of its own, so
 * that no source can block this one or take its memory.
 */
async function syntaxFault(bytes: Buffer): Promise<string | null> {
  const args = [`--max-old-space-size=${parserMemoryMb}`, '--check', '--input-type=module', '-'];
  const parser = spawn(process.execPath, args, {
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
    timeout: parseTimeoutMs,
    killSignal: 'SIGKILL',
  });
  // It need not read to the end to find a fault.
  parser.stdin.on('error', () => undefined);
  parser.stdin.end(bytes);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    parser.once('error', reject);
    parser.once('close', (...ended) => resolve(ended));
  });
  if (signal === 'SIGKILL') throw new DownloadError('timeout', 'a widget could not be parsed in time');
  return code === 0 ? null : 'is not a JavaScript module';
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
