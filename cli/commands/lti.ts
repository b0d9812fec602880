import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Option } from 'commander';
import type { Command } from 'commander';
import { LecternError } from '../../shared/platform/errors.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { parseCount, parsePort, parseSlug, parseHttpUrl } from '../terminal/option-parsers.ts';
import { addScoreCommands } from './lti-scores.ts';

/** `lectern lti …` */
export function addLtiCommands(lti: Command): void {
  addSimulateCommand(lti);
  addScoreCommands(lti);
}

export interface SimulateOptions {
  port: number;
  tool?: string;
  org?: string;
  attempts?: number;
  canvas?: boolean;
}

export type Simulate = (options: SimulateOptions) => Promise<void>;

/**
 * `lectern lti simulate`: runs an LTI 1.3 platform on this machine. Releases do not contain the simulator, which is a
 * development tool. Its path is not a literal, so that the compiler does not follow the import.
 */
function addSimulateCommand(lti: Command): void {
  const org = new Option(
    '--org <slug>',
    'connect it to this Lectern: it opens lessons of the organization while it runs',
  );
  lti
    .command('simulate')
    .description('run a small LTI 1.3 platform on this machine to explore tools; only in a checkout')
    .option('--port <number>', 'the port on which it listens', parsePort, 4000)
    .option(
      '--attempts <number>',
      'how many submissions a learner may make per grade, as in Canvas',
      parseCount,
    )
    .option('--canvas', 'register tools and show them in placements as Canvas does')
    .option('--tool <url>', 'registration URL of the first tool', parseHttpUrl)
    .addOption(org.argParser(parseSlug).conflicts('tool'))
    .action(async (options: SimulateOptions) => {
      if (!import.meta.url.endsWith('.ts')) {
        throw new LecternError(
          'NOT_FOUND',
          '`lti simulate` is a development tool that releases do not contain. Run it from a checkout of Lectern: npm run -s lectern -- lti simulate',
        );
      }
      const module = pathToFileURL(join(packageRoot, 'simulator', 'command.ts')).href;
      const { simulate } = (await import(module)) as { simulate: Simulate };
      await simulate(options);
    });
}
