import type { Command } from 'commander';
import { note, print } from './output.ts';

/** A command's result: one JSON document with `--json`, readable text without. */
export interface CommandResult {
  json: unknown;
  text: string;
  /** An explanation on stderr, only without `--json`. */
  remark?: string;
  /** `stderr` if stdout has other data. */
  printTo?: 'stdout' | 'stderr';
  /** The result reports a problem: the exit code is 1. */
  failed?: boolean;
}

/**
 * Gives a command the option `--json`, and prints the result of `run` after everything else is done. Stdout therefore
 * has one complete result or, if `run` throws, nothing.
 *
 * @param run takes the command's arguments, then its options
 */
export function withJsonOutput<Arguments extends unknown[]>(
  command: Command,
  run: (...args: Arguments) => Promise<CommandResult>,
): void {
  command.option('--json', 'print one JSON document').action(async (...args: unknown[]) => {
    const { json, text, remark, printTo, failed = false } = await run(...(args as Arguments));
    const asJson = command.opts<{ json?: boolean }>().json === true;
    const write = printTo === 'stderr' ? note : print;
    write(asJson ? JSON.stringify(json, null, 2) : text);
    if (!asJson && remark !== undefined) note(remark);
    if (failed) process.exitCode = 1;
  });
}
