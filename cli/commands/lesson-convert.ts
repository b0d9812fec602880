import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { loadConfig } from '../../shared/platform/config.ts';
import { openLocation } from '../../shared/packages/file-location.ts';
import { withPackageFaults } from '../../shared/packages/package-error.ts';
import { questionsPerStepOption } from '../lessons/conversion-options.ts';
import { describeReport, presentReport } from '../lessons/loss-report.ts';
import { makeEmptyFolder } from '../lessons/new-folder.ts';
import { withJsonOutput } from '../terminal/json-output.ts';
import { count } from '../terminal/output.ts';

/** `lectern lesson convert`: makes a package of a file in another format, without importing it. */
export function addLessonConvertCommand(group: Command): void {
  withJsonOutput(
    group
      .command('convert')
      .description('write the package that an import would make of a file in another format')
      .argument('<path>', 'a file or a folder in a format that Lectern reads: see docs/import')
      .requiredOption('--to <folder>', 'a new or an empty folder')
      .addOption(questionsPerStepOption()),
    (path: string, { to, questionsPerStep }: { to: string; questionsPerStep?: number }) =>
      withPackageFaults(`Cannot convert ${path}`, async () => {
        const { packageLimits } = await import('../../shared/packages/import.ts');
        const { openConverted } = await import('../../shared/packages/open-package.ts');
        const { signal } = new AbortController();
        const conversion = questionsPerStep === undefined ? {} : { questionsPerStep };
        const options = { limits: packageLimits(loadConfig()), conversion };
        const run = { organizationId: 'this command', signal };
        const { files, report } = await openConverted({ path, options, asNew: false }, run);
        await makeEmptyFolder(to);
        for (const location of files) {
          const target = join(to, location.file.path);
          await mkdir(dirname(target), { recursive: true });
          await pipeline(openLocation(location), createWriteStream(target, { flags: 'wx' }));
        }
        const json = { path: to, conversion: presentReport(report) };
        await writeFile(join(to, 'conversion.json'), `${JSON.stringify(json.conversion, null, 2)}\n`);
        const text = [
          `Wrote a package with ${count(files.length, 'file')} to ${to}`,
          ...describeReport(report),
        ];
        return { json, text: text.join('\n') };
      }),
  );
}
