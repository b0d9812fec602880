import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildWidgets } from '../../player/build.ts';
import { coreWidgetTypes } from '../../shared/lessons/core-widgets.ts';

describe('the build', () => {
  it('the build has a module and a stylesheet for each core type', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lectern-build-'));
    try {
      const names = coreWidgetTypes.flatMap((type) => [`${type}.css`, `${type}.js`]).sort();
      expect(await buildWidgets(folder)).toEqual(names);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('is deterministic, self-contained and reveals nothing about the machine', async () => {
    const folders = await Promise.all([0, 1].map(() => mkdtemp(join(tmpdir(), 'lectern-build-'))));
    try {
      for (const folder of folders) await buildWidgets(folder);
      const [first = '', second = ''] = folders;
      const names = (await readdir(first)).sort();
      expect((await readdir(second)).sort()).toEqual(names);
      for (const name of names) {
        const bytes = await readFile(join(first, name));
        expect(bytes.equals(await readFile(join(second, name))), name).toBe(true);
        const source = bytes.toString();
        expect(source, name).not.toMatch(/sourceMappingURL|\bfrom\s*["']|\bimport\s*["'(]|@import|url\(/);
        expect(source.includes(process.cwd()) || source.includes(first), name).toBe(false);
      }
    } finally {
      for (const folder of folders) await rm(folder, { recursive: true, force: true });
    }
  });

  it('removes the files of an earlier build', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lectern-build-'));
    try {
      await buildWidgets(folder);
      await writeFile(join(folder, 'Gone.js'), '');
      expect(await buildWidgets(folder)).toEqual((await readdir(folder)).sort());
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
