import { MongoBinary } from 'mongodb-memory-server-core';

// Downloads MongoDB's own build into a folder: `node official-mongod-process FOLDER VERSION`. The library
// prints its progress, so the path of the binary is the last line and has a mark.
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
