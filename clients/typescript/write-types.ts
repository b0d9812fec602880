import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'oxfmt';
import { endpoints } from '../../api/app.ts';
import { apiDocument } from '../../api/openapi/document.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { clientTypes } from './generate-types.ts';
import type { ApiDocument } from './generate-types.ts';

const path = join(import.meta.dirname, 'src/api.ts');

/** Returns what `src/api.ts` must contain. */
export async function currentTypes(): Promise<string> {
  const document = apiDocument({ publicUrl: undefined }, endpoints) as unknown as ApiDocument;
  const options = await readFile(join(packageRoot, '.oxfmtrc.json'), 'utf8');
  const { code } = await format(
    path,
    clientTypes(document),
    JSON.parse(options) as Parameters<typeof format>[2],
  );
  return code;
}

if (process.argv[1] === import.meta.filename) await writeFile(path, await currentTypes());
