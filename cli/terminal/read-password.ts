import { createInterface } from 'node:readline';
import type { Interface } from 'node:readline';
import { Writable } from 'node:stream';
import { LecternError } from '../../shared/platform/errors.ts';
import { assertValidPassword } from '../../shared/platform/passwords.ts';

/** Far more than a password has. */
const mostBytes = 4096;

/**
 * Reads a new password: the first and only line of stdin or, where that is a terminal, what is typed there twice
 * without being shown. It never comes from an option: those are seen in lists of processes and kept by shells.
 *
 * @throws {LecternError} INVALID_CONTENT that says what a password may be, or that the two differ.
 */
export async function readNewPassword(): Promise<string> {
  const password = process.stdin.isTTY ? await askTwice() : await readLine();
  assertValidPassword(password);
  return password;
}

async function readLine(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // With the piece that is too much: without it, the rest could pass for a password.
    chunks.push(chunk);
    if (bytes > mostBytes) break;
  }
  // What `echo` puts behind it is no part of it; any other line break is refused with the control characters.
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}

async function askTwice(): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  // From here on the terminal shows nothing of what is typed, also what is typed ahead.
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    const password = await ask(terminal, 'Password: ');
    if ((await ask(terminal, 'Password again: ')) === password) return password;
    throw new LecternError('INVALID_CONTENT', 'The two passwords differ.');
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
