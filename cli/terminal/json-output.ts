import type { Command } from 'commander';
import { note, print } from './output.ts';

/** What a command found or did: one JSON document with `--json`, readable text without. */
export interface Answer {
  json: unknown;
  text: string;
  /** More for people, on stderr and only without `--json`. */
  remark?: string;
  /** Where it is printed; `stderr` where stdout has other data. */
  printed?: 'stdout' | 'stderr';
  /** The answer is there, and is bad news: the exit code is 1. */
  failed?: boolean;
}

/**
 * Makes a command one that ends with an answer: it takes `--json`, and prints what `run` gives when all else is done.
 * So stdout holds one whole answer or, where `run` throws, nothing.
 *
 * @param run takes the command's arguments, then its options.
 */
export function answers<Arguments extends unknown[]>(
  command: Command,
  run: (...given: Arguments) => Promise<Answer>,
): void {
  command.option('--json', 'print one JSON document').action(async (...given: unknown[]) => {
    const { json, text, remark, printed, failed = false } = await run(...(given as Arguments));
    const asJson = command.opts<{ json?: boolean }>().json === true;
    const tell = printed === 'stderr' ? note : print;
    tell(asJson ? JSON.stringify(json, null, 2) : text);
    if (!asJson && remark !== undefined) note(remark);
    if (failed) process.exitCode = 1;
  });
}
