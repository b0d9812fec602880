import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { ZipArchive } from 'archiver';

const run = promisify(execFile);

/** Downloads every file with `curl --parallel`, then archives them with `zip -0`. */
export async function curlThenZip(
  origin: string,
  names: string[],
  folder: string,
  options: string[],
): Promise<void> {
  const media = join(folder, 'media');
  await mkdir(media, { recursive: true });
  const config = names.map((name) => `url = "${origin}/${name}"\noutput = "${join(media, name)}"`).join('\n');
  await writeFile(join(folder, 'curl.config'), config);
  await run('curl', [
    '--silent',
    '--fail',
    '--parallel',
    ...options,
    '--config',
    join(folder, 'curl.config'),
  ]);
  await zipStored(media, join(folder, 'curl.zip'));
}

/** Archives a folder with `zip -0`, which computes CRC-32 but no SHA-256, and does not sync. */
export async function zipStored(folder: string, target: string): Promise<void> {
  await rm(target, { force: true });
  await run('zip', ['-0', '-q', '-r', target, '.'], { cwd: folder });
}

/** Archives a folder with archiver 8 in store mode, file by file. */
export async function archiverStored(folder: string, target: string): Promise<void> {
  const archive = new ZipArchive({ store: true });
  const written = pipeline(archive, createWriteStream(target));
  for (const name of (await readdir(folder)).sort()) {
    const entry = new Promise((resolve) => archive.once('entry', resolve));
    archive.append(createReadStream(join(folder, name)), { name });
    await entry;
  }
  await archive.finalize();
  await written;
}

/** Does the minimum for an archive, without ZIP: reads, computes CRC-32 and SHA-256, writes one file, syncs it. */
export async function plainLoop(folder: string, target: string): Promise<void> {
  const output = await open(target, 'w');
  const hash = createHash('sha256');
  for (const name of (await readdir(folder)).sort()) {
    const bytes = await readFile(join(folder, name));
    crc32(bytes);
    hash.update(bytes);
    await output.write(bytes);
  }
  hash.digest();
  await output.sync();
  await output.close();
}
