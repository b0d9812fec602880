import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCertificate } from '../../test/support/certificate.ts';

/*
 * Runs the measurements in a child process that trusts the certificate of the HTTP/2 origin: Node.js reads
 * NODE_EXTRA_CA_CERTS only when it starts.
 */
const folder = await mkdtemp(join(tmpdir(), 'lectern-certificate-'));
createCertificate(folder);
const measuring = fork(join(import.meta.dirname, 'measure.ts'), [folder, ...process.argv.slice(3)], {
  env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem') },
});
const [code] = (await once(measuring, 'exit')) as [number | null];
process.exitCode = code ?? 1;
await rm(folder, { recursive: true });
