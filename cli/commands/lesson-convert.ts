import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Option } from 'commander';
import type { Command } from 'commander';
import { loadConfig } from '../../shared/platform/config.ts';
import { openLocation } from '../../shared/packages/file-location.ts';
import type { ConvertedFiles, WrittenFormat } from '../../shared/packages/open-package.ts';
import { withPackageFaults } from '../../shared/packages/package-error.ts';
import { conversionOf, moduleOption, questionsPerStepOption } from '../lessons/conversion-options.ts';
import type { ConversionFlags } from '../lessons/conversion-options.ts';
import { describeReport, presentReport } from '../lessons/loss-report.ts';
import { makeEmptyFolder } from '../lessons/new-folder.ts';
import { withJsonOutput } from '../terminal/json-output.ts';
import type { CommandResult } from '../terminal/json-output.ts';
import { count } from '../terminal/output.ts';

interface ConvertOptions extends ConversionFlags {
  to: string;
  markdown?: boolean;
  gift?: boolean;
  qti?: boolean;
}

/** `lectern lesson convert`: writes a package or Markdown, without importing it. */
export function addLessonConvertCommand(group: Command): void {
  withJsonOutput(
    group
      .command('convert')
      .description('write the package that an import would make of a file in another format, or Markdown')
      .argument('<path>', 'a file or a folder in a format that Lectern reads: see docs/import')
      .requiredOption('--to <folder>', 'a new or an empty folder')
      .addOption(new Option('--markdown', 'write Markdown, of a package, too').conflicts(['gift', 'qti']))
      .addOption(new Option('--qti', 'write the questions in QTI 3.0, of a package, too').conflicts('gift'))
      .option('--gift', 'write the questions in GIFT, of a package, too')
      .addOption(questionsPerStepOption())
      .addOption(moduleOption()),
    (path: string, { to, markdown = false, gift = false, qti = false, ...flags }: ConvertOptions) =>
      withPackageFaults(`Cannot convert ${path}`, async () => {
        const { packageLimits } = await import('../../shared/packages/import.ts');
        const { openConverted } = await import('../../shared/packages/open-package.ts');
        const { signal } = new AbortController();
        const options = { limits: packageLimits(loadConfig()), conversion: conversionOf(flags) };
        const run = { organizationId: 'this command', signal };
        const questions = qti ? 'qti' : gift ? 'gift' : 'package';
        const format = markdown ? 'markdown' : questions;
        const converted = await openConverted(format, { path, options, asNew: false }, run);
        await writeFiles(converted, to);
        return present(converted, { to, format });
      }),
  );
}

async function writeFiles({ files, report }: ConvertedFiles, to: string): Promise<void> {
  await makeEmptyFolder(to);
  for (const location of files) {
    const target = join(to, location.file.path);
    await mkdir(dirname(target), { recursive: true });
    await pipeline(openLocation(location), createWriteStream(target, { flags: 'wx' }));
  }
  if (report === null) return;
  await writeFile(join(to, 'conversion.json'), `${JSON.stringify(presentReport(report), null, 2)}\n`);
}

function present(
  { files, report, losses }: ConvertedFiles,
  { to, format }: { to: string; format: WrittenFormat },
): CommandResult {
  const what = { package: 'a package', markdown: 'Markdown', gift: 'GIFT', qti: 'QTI' }[format];
  const text = [
    `Wrote ${what} with ${count(files.length, 'file')} to ${to}`,
    ...(report === null ? [] : describeReport(report)),
    ...losses.map((loss) => `  left out: ${loss}`),
  ];
  const json = { path: to, conversion: presentReport(report), losses };
  return { json, text: text.join('\n') };
}
