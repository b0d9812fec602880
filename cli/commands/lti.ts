import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Option } from 'commander';
import type { Command } from 'commander';
import { LecternError } from '../../shared/platform/errors.ts';
import { countValue, portValue, slugValue, webAddressValue } from '../terminal/option-parsers.ts';
import { addScoreCommands } from './lti-scores.ts';

/** `lectern lti …` */
export function addLtiCommands(program: Command): void {
  const lti = program.command('lti').description('what goes on between Lectern and learning platforms');
  addSimulateCommand(lti);
  addScoreCommands(lti);
}

export interface SimulateOptions {
  port: number;
  tool?: string;
  org?: string;
  attempts?: number;
}

export type Simulate = (options: SimulateOptions) => Promise<void>;

/**
 * `lectern lti simulate`: runs an LTI 1.3 platform on this machine. The simulator is a development tool that releases
 * do not contain, so the compiler must not follow the import: the path is no literal.
 */
function addSimulateCommand(lti: Command): void {
  const org = new Option(
    '--org <slug>',
    'connect it to this Lectern, to open lessons of the organization while it runs',
  );
  lti
    .command('simulate')
    .description('run a small LTI 1.3 platform on this machine to try tools out; only in a checkout')
    .option('--port <number>', 'where it listens', portValue, 4000)
    .option(
      '--attempts <number>',
      'how many submissions of a learner a grade takes, as in Canvas',
      countValue,
    )
    .option('--tool <url>', 'registration address of a tool, to begin with', webAddressValue)
    .addOption(org.argParser(slugValue).conflicts('tool'))
    .action(async (options: SimulateOptions) => {
      const module = new URL('../../simulator/command.ts', import.meta.url);
      if (!existsSync(fileURLToPath(module))) {
        throw new LecternError(
          'NOT_FOUND',
          '`lti simulate` is a development tool that releases do not contain. Run it from a checkout of Lectern: npm run -s lectern -- lti simulate',
        );
      }
      const { simulate } = (await import(module.href)) as { simulate: Simulate };
      await simulate(options);
    });
}
