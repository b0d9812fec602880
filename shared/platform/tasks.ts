import type { ChildProcess } from 'node:child_process';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { pathToFileURL } from 'node:url';
import { onAbort } from './abort-listeners.ts';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import type { WaitLimits } from './concurrency-limit.ts';
import { LecternError, messageOf } from './errors.ts';
import type { ErrorCode } from './errors.ts';
import { errorOfEnd, LimitExceeded, startLimited } from './limited-process.ts';
import { entryPoint } from './paths.ts';

/*
 * Work on the content of tenants runs in child processes, because its time grows with the content, and a hostile lesson
 * could block an event loop for minutes. See docs/decisions/0063-content-in-child-processes.md.
 */

/** The work of a child process: returns its result in parts, each of which is small enough to be read at once. */
export type Task<Input, Part> = (input: Input) => AsyncIterable<Part> | Iterable<Part>;

const limits = { cpuSeconds: 30, heapMb: 512 };

/** A process that has used more CPU time takes no further task, so that each has at least the rest. */
const reusableCpuMs = 5_000;

/** The kernel's limit ends a hostile task long before, unless the machine is overloaded. */
const timeoutMs = 180_000;

/** Requests wait for tasks longer than for other work, because most tasks take some hundred milliseconds. Jobs wait without limit. */
export const taskWait = { wait: { waiting: 20, maxWaitMs: 5_000 } };

/** Starting a process takes longer than most tasks. */
const idleMs = 10_000;

type Message<Part> =
  | { part: Part }
  | { cpuMs: number }
  | { cpuMs: number; error: { code?: ErrorCode; message: string; limit?: true } };

const running = new ConcurrencyLimit({
  ...{ concurrent: 1, inAll: 2 },
  refusal: 'Too many requests wait for work on lessons',
});
const idle: IdleProcess[] = [];

interface IdleProcess {
  child: ChildProcess;
  expiry: NodeJS.Timeout;
}

export interface TaskOptions {
  /** The work, as the beginning of a sentence in messages: "Reading a.zip". */
  what: string;
  organizationId: string;
  /** Ends the wait or the task. */
  signal?: AbortSignal | undefined;
  /** Limits the wait for other tasks; unlimited by default. */
  wait?: WaitLimits | undefined;
}

/** How long a caller waits for a task. */
export type TaskWait = Pick<TaskOptions, 'signal' | 'wait'>;

/**
 * Runs a task of shared/operations/content-process.ts in a child process, with limits on CPU time, memory and wall
 * time. Waits until fewer than two tasks run, and none of the same organization.
 *
 * @param input or a function that reads it then, so that waiting requests hold nothing
 * @throws {LimitExceeded} when the content takes too much time or memory: another try would, too
 * @throws {LecternError} as the task does; TOO_MANY_REQUESTS beyond the limits of the wait
 * @throws {Error} for any other failure; the signal's reason
 */
export async function runTask<Part>(
  name: string,
  input: unknown,
  { what, organizationId, signal, wait }: TaskOptions,
): Promise<Part[]> {
  const end = await running.begin(organizationId, signal, wait);
  try {
    const given: unknown = typeof input === 'function' ? await (input as () => unknown)() : input;
    return await runNow<Part>({ name, input: given }, what, signal);
  } finally {
    end();
  }
}

function runNow<Part>(
  task: { name: string; input: unknown },
  what: string,
  signal: AbortSignal | undefined,
): Promise<Part[]> {
  const child = takeProcess();
  const parts: Part[] = [];
  let output = '';
  return new Promise<Part[]>((resolve, reject) => {
    const onMessage = (message: Message<Part>) => {
      if ('part' in message) parts.push(message.part);
      else {
        const isReusable = message.cpuMs < reusableCpuMs;
        if ('error' in message) end(() => reject(errorOf(message.error)), isReusable);
        else end(() => resolve(parts), isReusable);
      }
    };
    const onOutput = (data: Buffer) => (output = (output + data.toString()).slice(-2_000));
    const onError = (error: Error) => end(() => reject(error));
    const onExit = (code: number | null, killedBy: NodeJS.Signals | null) =>
      end(() => {
        const error = errorOfEnd(what, code, killedBy);
        if (!(error instanceof LimitExceeded)) error.message += output === '' ? '' : `: ${output}`;
        reject(error);
      });
    const end = (settle: () => void, isReusable = false) => {
      clearTimeout(timer);
      stopListening?.();
      child.off('message', onMessage).off('error', onError).off('exit', onExit);
      child.stderr?.off('data', onOutput);
      if (isReusable) keepIdle(child);
      else child.kill('SIGKILL');
      settle();
    };
    const timer = setTimeout(
      () => end(() => reject(new Error(`${what} did not end within ${timeoutMs / 1000} s`))),
      timeoutMs,
    );
    const stopListening = signal && onAbort(signal, () => end(() => reject(signal.reason as Error)));
    child.on('message', onMessage).on('error', onError).on('exit', onExit);
    child.stderr?.on('data', onOutput);
    // A process that has just ended reports it by the event `exit`.
    child.send(task, (_error: Error | null) => undefined);
  });
}

function errorOf({ code, message, limit }: { code?: ErrorCode; message: string; limit?: true }): Error {
  if (limit === true) return new LimitExceeded(message);
  return code === undefined ? new Error(message) : new LecternError(code, message);
}

function takeProcess(): ChildProcess {
  for (let next = idle.pop(); next !== undefined; next = idle.pop()) {
    clearTimeout(next.expiry);
    const { child } = next;
    if (!child.connected) continue;
    child.ref();
    child.channel?.ref();
    (child.stderr as Socket).ref();
    return child;
  }
  return startLimited(processArguments(), limits, ['ignore', 'ignore', 'pipe', 'ipc']);
}

/** Keeps a process for further tasks for a while. It does not keep this process alive. */
function keepIdle(child: ChildProcess): void {
  const expiry = setTimeout(() => {
    idle.splice(
      idle.findIndex((one) => one.child === child),
      1,
    );
    child.kill('SIGKILL');
  }, idleMs);
  expiry.unref();
  child.unref();
  child.channel?.unref();
  (child.stderr as Socket).unref();
  idle.push({ child, expiry });
}

/** Sources need the loader of this process, by its full path, because the working directory may be another one. */
function processArguments(): string[] {
  const file = entryPoint('shared/operations/content-process');
  if (!file.endsWith('.ts')) return [file];
  const loader = createRequire(import.meta.url).resolve('tsx');
  return ['--import', pathToFileURL(loader).href, file];
}

/** Runs the tasks that the parent process sends, one after the other, until the parent ends. */
export function serveTasks(tasks: Record<string, Task<never, unknown>>): void {
  process.on('disconnect', () => process.exit());
  process.on('message', ({ name, input }: { name: string; input: never }) => {
    void runReceived(tasks, name, input);
  });
}

async function runReceived(
  tasks: Record<string, Task<never, unknown>>,
  name: string,
  input: never,
): Promise<void> {
  const cpuMs = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  try {
    const task = tasks[name];
    if (task === undefined) throw new Error(`There is no task ${name}`);
    for await (const part of task(input)) await send({ part });
    await send({ cpuMs: cpuMs() });
  } catch (error) {
    const code = error instanceof LecternError ? { code: error.code } : {};
    const limit = error instanceof LimitExceeded ? { limit: true as const } : {};
    await send({ cpuMs: cpuMs(), error: { ...code, ...limit, message: messageOf(error) } });
  }
}

/** Resolves when the parent's channel has taken the message, so that parts do not pile up in memory. */
function send(message: Message<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(message, undefined, undefined, (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
}
