import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../../shared/platform/paths.ts';

/**
 * Returns the shell commands of a page: its code blocks marked `sh`, in order.
 *
 * @param page such as docs/integrate.md.
 * @param section the heading above them, up to the next one of its level or above; the whole page by default.
 */
export async function shellBlocks(page: string, section?: string): Promise<string[]> {
  const text = await readFile(join(packageRoot, page), 'utf8');
  const part = section === undefined ? text : sectionOf(text, section);
  return [...part.matchAll(/^( *)```sh\n(.*?)^\1```$/gms)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
}

function sectionOf(text: string, heading: string): string {
  const [level = ''] = /^#+/.exec(heading) ?? [];
  const start = text.indexOf(`\n${heading}\n`);
  if (level === '' || start === -1) throw new Error(`there is no section "${heading}"`);
  const rest = text.slice(start + heading.length + 2);
  const end = rest.search(new RegExp(`^#{1,${level.length}} `, 'm'));
  return end === -1 ? rest : rest.slice(0, end);
}
