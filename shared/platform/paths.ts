import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

function findPackageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

/** The folder that holds package.json, whether the code runs from its sources or compiled from dist/. */
export const packageRoot = findPackageRoot();

/** The release of Lectern: the version in package.json. */
export const { version: release } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
  version: string;
};

/** Whether processes start from the sources of a checkout. Test runs replace this: see vitest.config.ts. */
const runsFromSource = import.meta.url.endsWith('.ts');

/** Returns the path of an entry point: the `.ts` file in a checkout, the `.js` file in dist/ when compiled. */
export function entryPoint(pathWithoutExtension: string): string {
  return join(
    packageRoot,
    runsFromSource ? '' : 'dist',
    `${pathWithoutExtension}.${runsFromSource ? 'ts' : 'js'}`,
  );
}
