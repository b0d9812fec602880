import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

interface Size {
  name: string;
  /** Bytes. */
  raw: number;
  gzipped: number;
}

/** What a browser loads of the player: together, in the order of the list. */
const sets = {
  'on a page of your own: player.js, player.css': ['player.js', 'player.css'],
  'hosted: embed-page.*, frame.*': ['embed-page.js', 'embed-page.css', 'frame.js', 'frame.css'],
};

/** What each page with h5p-standalone loads of it, besides its fonts and the content's libraries. */
const h5pFiles = ['main.bundle.js', 'frame.bundle.js', 'styles/h5p.css'];

/** Prints how large the player's files are, and those of h5p-standalone. @param h5p folder of its `dist` */
export async function reportSizes(player: string, h5p: string | null): Promise<void> {
  const names = (await readdir(player)).filter((name) => /\.(js|css)$/.test(name)).sort();
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
