import type { Command } from 'commander';
import { aborted } from '../terminal/interrupts.ts';
import { note, print } from '../terminal/output.ts';

/** `lectern start`: everything on one machine, in one terminal. */
export function addStartCommand(program: Command): void {
  program
    .command('start')
    .description('run the API, a worker, and the servers they need where none are configured')
    .action(async () => {
      const { withInstallation } = await import('../installation/installation.ts');
      await withInstallation({ workers: 1, report: note, warn: note }, async ({ address, signal }) => {
        print(`Lectern is ready at ${address}`);
        await aborted(signal);
      });
    });
}

/** `lectern demo`: the main job on this machine, from an import to the ZIP an integrator downloads. */
export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('try it out: import the demo lesson, export it through the API and two workers, and stay up')
    .option('--once', 'end after the export')
    .action(async ({ once = false }: { once?: boolean }) => {
      const { demonstrate } = await import('../lessons/demo.ts');
      await demonstrate(once);
    });
}
