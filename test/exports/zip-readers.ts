import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { openPromise } from 'yauzl';

const run = promisify(execFile);

/** The buffer for a reader's output, large enough for names and digests of tens of thousands of entries. */
const maxBuffer = 256 * 1024 ** 2;

/** An entry as a reader found it. */
export interface ReadEntry {
  name: string;
  size: number;
  sha256: string;
}

/** A program that reads ZIP archives and shares no code with Lectern's writer. */
export interface ZipReader {
  /** Includes what is missing where it cannot run, so that the title of a skipped test gives the reason. */
  name: string;
  available: boolean;
  /** Reads and verifies every entry, in archive order. Fails when the reader reports a problem. */
  read: (path: string) => Promise<ReadEntry[]>;
}

const hasPython = spawnSync('python3', ['--version']).status === 0;
const hasUnzip = spawnSync('unzip', ['-v']).status === 0;

const pythonScript = `
import hashlib, json, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
broken = archive.testzip()
if broken is not None: sys.exit("broken: " + broken)
print(json.dumps([
    {"name": info.filename, "size": info.file_size, "sha256": hashlib.sha256(archive.read(info)).hexdigest()}
    for info in archive.infolist()
]))
`;

async function readWithPython(path: string): Promise<ReadEntry[]> {
  const { stdout } = await run('python3', ['-c', pythonScript, path], { maxBuffer });
  return JSON.parse(stdout) as ReadEntry[];
}

async function readWithYauzl(path: string): Promise<ReadEntry[]> {
  const archive = await openPromise(path, { strictFileNames: true });
  const entries: ReadEntry[] = [];
  try {
    for await (const entry of archive.eachEntry()) {
      const hash = createHash('sha256');
      let size = 0;
      for await (const chunk of await archive.openReadStreamPromise(entry)) {
        hash.update(chunk as Buffer);
        size += (chunk as Buffer).length;
      }
      entries.push({ name: entry.fileName, size, sha256: hash.digest('hex') });
    }
  } finally {
    archive.close();
  }
  return entries;
}

/** unzip verifies checksums with -t, lists with -Z1 and -Zl, and prints all entries joined with -p. */
async function readWithUnzip(path: string): Promise<ReadEntry[]> {
  const options = { maxBuffer, env: { ...process.env, LC_ALL: 'C.UTF-8' } };
  await run('unzip', ['-tqq', path], options);
  const [names, listing, contents] = await Promise.all([
    run('unzip', ['-Z1', path], options),
    run('unzip', ['-Zl', path], options),
    run('unzip', ['-p', path], { ...options, encoding: 'buffer' }),
  ]);
  // -rw-r--r--  3.0 unx      123 b-      123 stor 26-Jan-15 09:00 name
  const sizes = listing.stdout.split('\n').flatMap((line) => /^-\S+ +\S+ unx +(\d+) /.exec(line)?.[1] ?? []);
  let position = 0;
  return names.stdout
    .split('\n')
    .slice(0, -1)
    .map((name, index) => {
      const size = Number(sizes[index]);
      const bytes = contents.stdout.subarray(position, position + size);
      position += size;
      return { name, size, sha256: createHash('sha256').update(bytes).digest('hex') };
    });
}

const named = (name: string, available: boolean) =>
  available ? name : `${name}, SKIPPED: not on this machine`;

/** Three independent readers. */
export const zipReaders: ZipReader[] = [
  { name: named('unzip', hasUnzip), available: hasUnzip, read: readWithUnzip },
  { name: named("Python's zipfile", hasPython), available: hasPython, read: readWithPython },
  { name: 'yauzl', available: true, read: readWithYauzl },
];
