import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { errorOfEnd, LimitExceeded, startLimited } from '../platform/limited-process.ts';
import { withDeadline } from '../platform/time-limits.ts';
import { DownloadError } from '../media/downloads/failure.ts';

/** A module of 2 MiB usually takes 0.2 s of CPU time; a hostile one could take 8 s. */
const limits = { cpuSeconds: 2, heapMb: 128 };

/** Only an overloaded machine takes this long to spend that CPU time. */
const timeoutMs = 20_000;

/**
 * Parses stdin as a module. Linking resolves exports and evaluates nothing; a module without imports needs no linker.
 * Newer versions of Node.js have `moduleRequests`, older ones `dependencySpecifiers`.
 */
const parser = `
import { buffer } from 'node:stream/consumers';
import { SourceTextModule } from 'node:vm';

const source = new TextDecoder().decode(await buffer(process.stdin));
let result = {};
try {
  const module = new SourceTextModule(source);
  const [request] = module.moduleRequests ?? module.dependencySpecifiers;
  if (request === undefined) {
    await module.link(() => {});
    result = { hasDefault: 'default' in module.namespace };
  } else {
    result = { imports: (request.specifier ?? request).slice(0, 200) };
  }
} catch {}
process.stdout.write(JSON.stringify(result));
`;

interface ParsedModule {
  /** The specifier of the module's first import. */
  imports?: string;
  /** Missing for a module that has an import or does not parse. */
  hasDefault?: boolean;
}

/**
 * Parses a module in a separate process with limits on CPU time and memory. The process never outlives this one by
 * more than its CPU time.
 *
 * @param signal ends the parser
 * @returns the reason why a lesson cannot use the module, as the end of a sentence; null if it can
 * @throws {DownloadError} timeout when the machine is too busy for a verdict; the signal's reason
 */
export async function moduleFault(source: Uint8Array, signal?: AbortSignal): Promise<string | null> {
  signal?.throwIfAborted();
  const node = ['--experimental-vm-modules', '--input-type=module', '--eval', parser];
  const child = startLimited(node, limits, ['pipe', 'pipe', 'ignore']);
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error('Unreachable: both are pipes');
  try {
    // The child may exit before it has read everything.
    stdin.on('error', () => undefined);
    stdin.end(source);
    const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
    const [[code, endedBy], output] = await withDeadline(Promise.all([closed, text(stdout)]), {
      timeoutMs: timeoutMs,
      signal,
      late: tookTooLong,
    });
    if (code !== 0) throw errorOfEnd('The parser of widgets', code, endedBy);
    return faultOf(JSON.parse(output) as ParsedModule);
  } catch (error) {
    if (error instanceof LimitExceeded) return 'takes too much time or memory to parse';
    throw error;
  } finally {
    child.kill('SIGKILL');
  }
}

function tookTooLong(): never {
  throw new DownloadError('timeout', 'a widget could not be parsed in time');
}

function faultOf(parsed: ParsedModule): string | null {
  if (parsed.imports !== undefined) {
    return `imports ${JSON.stringify(parsed.imports)}: a widget has to be one file`;
  }
  if (parsed.hasDefault === undefined) return 'is not a JavaScript module';
  return parsed.hasDefault ? null : 'has no default export';
}
