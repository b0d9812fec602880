import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './paths.ts';

/** Returns the versions of Node.js that run Lectern, as package.json names them: ">=20.19". */
export function neededNode(): string {
  const { engines } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  return engines.node;
}

/** Returns why this version of Node.js cannot run Lectern, and what to do; null if it can. */
export function nodeFault(): string | null {
  const needed = neededNode();
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [, neededMajor = 0, neededMinor = 0] = (/(\d+)\.(\d+)/.exec(needed) ?? []).map(Number);
  if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) return null;
  return `Node.js ${process.versions.node} is too old: install ${needed}`;
}

/** Ends the process with an error if its Node.js is too old. Call it before other modules load: those fail to load. */
export function requireNode(): void {
  const fault = nodeFault();
  if (fault === null) return;
  process.stderr.write(`lectern: ${fault}\n`);
  process.exit(1);
}
