import { MongoBinary } from 'mongodb-memory-server-core';

// Downloads MongoDB's own build into a folder: `node official-mongod-process FOLDER VERSION`. The library prints
// progress, so the binary's path is on the last line, with a prefix.
const [downloadDir, version] = process.argv.slice(2);
try {
  const path = await MongoBinary.getPath({
    ...(downloadDir && { downloadDir }),
    ...(version && { version }),
  });
  process.stdout.write(`\nmongod: ${path}\n`);
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  process.stdout.write(`\n${reason.replaceAll(/\s+/g, ' ').slice(0, 300)}\n`);
  process.exitCode = 1;
}
