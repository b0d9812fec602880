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

/** `curl --parallel --parallel-max 8` of every file, then `zip -0` of what came. */
export async function curlThenZip(origin: string, names: string[], folder: string): Promise<void> {
  const media = join(folder, 'media');
  await mkdir(media, { recursive: true });
  const config = names.map((name) => `url = "${origin}/${name}"\noutput = "${join(media, name)}"`).join('\n');
  await writeFile(join(folder, 'curl.config'), config);
  await run('curl', [
    '--silent',
    '--fail',
    '--parallel',
    '--parallel-max',
    '8',
    '--config',
    join(folder, 'curl.config'),
  ]);
  await zipStored(media, join(folder, 'curl.zip'));
}

/** `zip -0` of a folder; it computes CRC-32, but no SHA-256, and does not wait for the disk. */
export async function zipStored(folder: string, target: string): Promise<void> {
  await rm(target, { force: true });
  await run('zip', ['-0', '-q', '-r', target, '.'], { cwd: folder });
}

/** archiver 8 in store mode, files appended one after the other. */
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

/** The plainest loop that does what an archive needs: read, CRC-32, SHA-256, write one file, sync it. No ZIP. */
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
