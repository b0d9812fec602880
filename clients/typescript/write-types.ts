import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'oxfmt';
import { endpoints } from '../../api/app.ts';
import { apiDocument } from '../../api/openapi/document.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { clientTypes, consoleTypes } from './generate-types.ts';
import type { ApiDocument } from './generate-types.ts';

const sources = {
  'clients/typescript/src/api.ts': clientTypes,
  'console/api-types.ts': consoleTypes,
};

/** Returns what the generated files must contain, by path in the repository. */
export async function currentTypes(): Promise<Record<keyof typeof sources, string>> {
  const document = apiDocument({ publicUrl: undefined }, endpoints) as unknown as ApiDocument;
  const options = JSON.parse(await readFile(join(packageRoot, '.oxfmtrc.json'), 'utf8')) as Parameters<
    typeof format
  >[2];
  const written = Object.entries(sources).map(async ([path, generate]) => {
    const { code } = await format(path, generate(document), options);
    return [path, code] as const;
  });
  return Object.fromEntries(await Promise.all(written)) as Record<keyof typeof sources, string>;
}

if (process.argv[1] === import.meta.filename) {
  for (const [path, source] of Object.entries(await currentTypes()))
    await writeFile(join(packageRoot, path), source);
}
