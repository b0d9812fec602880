import type { Command } from 'commander';
import { aborted } from '../interrupts.ts';
import { note, print } from '../output.ts';

/** `lectern start`: everything on one machine, in one terminal. */
export function addStartCommand(program: Command): void {
  program
    .command('start')
    .description('run the API, a worker, and the servers they need where none are configured')
    .action(async () => {
      const { withInstallation } = await import('../installation.ts');
      await withInstallation({ workers: 1, report: note, warn: note }, async ({ address, signal }) => {
        print(`Lectern is ready at ${address}`);
        await aborted(signal);
      });
    });
}
