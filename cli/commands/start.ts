import type { Command } from 'commander';
import { aborted } from '../terminal/interrupts.ts';
import { withJsonOutput } from '../terminal/json-output.ts';
import { note, print } from '../terminal/output.ts';

/** `lectern start`: runs everything on one machine, in one terminal. */
export function addStartCommand(program: Command): void {
  program
    .command('start')
    .description('run the API, a worker, and the servers that are not configured')
    .action(async () => {
      const { withInstallation } = await import('../installation/installation.ts');
      await withInstallation({ workers: 1, report: note, warn: note }, async ({ url, signal }) => {
        print(`Lectern is ready at ${url}`);
        await aborted(signal);
      });
    });
}

/** `lectern demo`: runs the main path on this machine, from an import to the ZIP that an integrator downloads. */
export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('import the demo lesson, export it through the API and two workers, and keep running')
    .option('--once', 'exit after the export')
    .action(async ({ once = false }: { once?: boolean }) => {
      const { demonstrate } = await import('../lessons/demo.ts');
      await demonstrate(once);
    });
}

/** `lectern doctor` */
export function addDoctorCommand(program: Command): void {
  withJsonOutput(
    program
      .command('doctor')
      .description('check everything that Lectern depends on, and say how to fix each problem (exit code 1)')
      .option('--accept', 'after a loss: make the present secrets and store those of the installation')
      .option('--fix', 'add the rule to the bucket that removes abandoned uploads'),
    async (options: { accept?: boolean; fix?: boolean }) => (await import('./doctor.ts')).diagnose(options),
  );
}
