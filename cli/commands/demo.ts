import type { Command } from 'commander';

/** `lectern demo`: the main job on this machine, from an import to the ZIP an integrator downloads. */
export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('try it out: import the demo lesson, export it through the API and two workers, and stay up')
    .option('--once', 'end after the export')
    .action(async ({ once = false }: { once?: boolean }) => {
      const { demonstrate } = await import('../demo.ts');
      await demonstrate(once);
    });
}
