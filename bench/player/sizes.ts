import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

interface Size {
  name: string;
  /** Bytes. */
  raw: number;
  gzipped: number;
}

/** The files of the player that a browser loads, by use. */
const sets = {
  'on your own page: player.js, player.css': ['player.js', 'player.css'],
  'hosted: embed-page.*, frame.html': ['embed-page.js', 'embed-page.css', 'frame.html'],
};

/** The files that each page with h5p-standalone loads, besides its fonts and content libraries. */
const h5pFiles = ['main.bundle.js', 'frame.bundle.js', 'styles/h5p.css'];

/**
 * Prints the sizes of the player's files, and of those of h5p-standalone.
 *
 * @param h5p its `dist` folder
 */
export async function reportSizes(player: string, h5p: string | null): Promise<void> {
  const names = (await readdir(player)).filter((name) => /\.(js|css|html)$/.test(name)).sort();
  const files = await Promise.all(names.map((name) => sizeOf(player, name)));
  const together = Object.entries(sets).map(([name, members]) =>
    sum(
      name,
      files.filter((file) => members.includes(file.name)),
    ),
  );
  print('The player', [...files, ...together]);
  if (h5p === null) return;
  const theirs = await Promise.all(h5pFiles.map((name) => sizeOf(h5p, name)));
  print('h5p-standalone, without fonts and content types', [...theirs, sum('together', theirs)]);
}

async function sizeOf(folder: string, name: string): Promise<Size> {
  const bytes = await readFile(join(folder, name));
  return { name, raw: bytes.length, gzipped: gzipSync(bytes, { level: 9 }).length };
}

function sum(name: string, files: Size[]): Size {
  const add = (part: 'raw' | 'gzipped') => files.reduce((total, file) => total + file[part], 0);
  return { name, raw: add('raw'), gzipped: add('gzipped') };
}

function print(title: string, sizes: Size[]): void {
  console.log(`\n${title}`);
  for (const { name, raw, gzipped } of sizes) {
    const [plain, packed] = [raw, gzipped].map((bytes) => (bytes / 1000).toFixed(1).padStart(7));
    console.log(`  ${name.padEnd(58)} ${plain} kB  ${packed} kB gzipped`);
  }
}
