import { readFileSync } from 'node:fs';

/** The shells that npm may run its scripts in. */
const shells = ['sh', 'ash', 'bash', 'busybox', 'dash', 'zsh'];

/**
 * The ids of the processes that started this one: its parent and, where that is a shell, as npm puts one between
 * itself and a script, the shell's own. One that ends is replaced by another, so a change says that one has ended.
 *
 * Only Linux tells of a shell's parent. Elsewhere the usual shells become the script that they run.
 */
export function starters(): number[] {
  const { ppid } = process;
  try {
    // "pid (name) state ppid …", as proc_pid_stat(5) has it.
    const [, name = '', parent] =
      /^\d+ \((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${ppid}/stat`, 'utf8')) ?? [];
    return shells.includes(name) ? [ppid, Number(parent)] : [ppid];
  } catch {
    return [ppid];
  }
}
