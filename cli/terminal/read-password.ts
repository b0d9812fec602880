import { createInterface } from 'node:readline';
import type { Interface } from 'node:readline';
import { Writable } from 'node:stream';
import { LecternError } from '../../shared/platform/errors.ts';
import { assertValidPassword } from '../../shared/platform/passwords.ts';

/** Far more than the longest password. */
const maxBytes = 4096;

/**
 * Reads a new password: the only line of stdin or, in a terminal, two equal inputs that are not shown. Options would
 * expose a password in process lists and shell histories.
 *
 * @throws {LecternError} INVALID_CONTENT with the rule for passwords, or because the two inputs differ
 */
export async function readNewPassword(): Promise<string> {
  const password = process.stdin.isTTY ? await askTwice() : await readLine();
  assertValidPassword(password);
  return password;
}

/** Reads a password of another system in the same way, once. @throws {LecternError} INVALID_CONTENT for an empty one. */
export async function readForeignPassword(): Promise<string> {
  const password = process.stdin.isTTY
    ? await withHiddenInput((terminal) => ask(terminal, 'Password: '))
    : await readLine();
  if (password === '') throw new LecternError('INVALID_CONTENT', 'No password was given.');
  return password;
}

async function readLine(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Includes the chunk beyond the limit: without it, the rest could be a valid password.
    chunks.push(chunk);
    if (bytes > maxBytes) break;
  }
  // Without the line break that `echo` adds. Other line breaks are rejected as control characters.
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}

function askTwice(): Promise<string> {
  return withHiddenInput(async (terminal) => {
    const password = await ask(terminal, 'Password: ');
    if ((await ask(terminal, 'Password again: ')) === password) return password;
    throw new LecternError('INVALID_CONTENT', 'The two passwords differ.');
  });
}

async function withHiddenInput(read: (terminal: Interface) => Promise<string>): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  // From here on, the terminal shows no input, including input typed ahead.
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    return await read(terminal);
  } finally {
    terminal.close();
  }
}

async function ask(terminal: Interface, prompt: string): Promise<string> {
  process.stderr.write(prompt);
  try {
    return await new Promise<string>((resolve, reject) => {
      const interrupted = () => reject(new LecternError('INVALID_CONTENT', 'No password was given.'));
      terminal.once('SIGINT', interrupted).once('close', interrupted).once('line', resolve);
    });
  } finally {
    process.stderr.write('\n');
  }
}
