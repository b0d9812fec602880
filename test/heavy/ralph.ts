import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import mongoose from 'mongoose';
import { inject } from 'vitest';
import { freePort, startServer } from '../../shared/embedded/child-process.ts';
import type { RunningServer } from '../../shared/embedded/child-process.ts';
import { installFromPyPI, run } from './python-environment.ts';
import { temporaryFolder } from '../support/folders.ts';

/** The server also imports `requests`. Its backend for files takes only one write. */
const releases = ['ralph-malph[lrs,backend-mongo]==5.1.0', 'requests'];

const username = 'lectern';
const password = 'the password of Ralph';
const collection = 'statements';

/** Hashes the password as Ralph's credentials need it. */
const hashScript =
  'import bcrypt, sys; print(bcrypt.hashpw(sys.argv[1].encode(), bcrypt.gensalt(4)).decode())';

/** A statement as Ralph stores it. */
export interface StoredStatement {
  id: string;
  actor: { account: { name: string } };
  verb: { display: { en: string } };
  object: { id: string };
  context: { extensions: Record<string, number> };
}

/** Installs Ralph 5.1, a learning record store, from PyPI, and starts it on the MongoDB of the tests. */
export async function startRalph() {
  const python = await installFromPyPI(...releases);
  const credentials = join(await temporaryFolder(), 'auth.json');
  const { stdout: hash } = await run(python.program('python'), ['-c', hashScript, password]);
  const agent = { mbox: 'mailto:lectern@example.org' };
  await writeFile(credentials, JSON.stringify([{ username, hash: hash.trim(), scopes: ['all'], agent }]));
  const database = `ralph-${randomBytes(6).toString('hex')}`;
  const stored = mongoose.createConnection(inject('mongodbUri'), { dbName: database });
  const settings = [
    'RALPH_RUNSERVER_BACKEND=mongo',
    `RALPH_AUTH_FILE=${credentials}`,
    `RALPH_BACKENDS__LRS__MONGO__CONNECTION_URI=${inject('mongodbUri')}`,
    `RALPH_BACKENDS__LRS__MONGO__DEFAULT_DATABASE=${database}`,
    `RALPH_BACKENDS__LRS__MONGO__DEFAULT_COLLECTION=${collection}`,
  ];
  const port = await freePort();
  let server: RunningServer;
  const start = async () => {
    const options = ['--host', '127.0.0.1', '--port', String(port), '--no-access-log'];
    server = await startServer({
      name: 'Ralph',
      command: 'env',
      args: [...settings, python.program('uvicorn'), 'ralph.api:app', ...options],
      ready: /Uvicorn running/,
      logFile: `${credentials}.log`,
    });
  };
  await start();
  return {
    destination: { endpoint: `http://127.0.0.1:${port}/xAPI/`, username, password },
    /** Starts it again, on the same port and database. */
    start,
    /** Stops it, after its current requests. */
    stop: () => server.stop(30_000),
    /** Makes it keep its connections and stop responding. */
    freeze: () => void process.kill(server.pid, 'SIGSTOP'),
    thaw: () => void process.kill(server.pid, 'SIGCONT'),
    async statements() {
      const documents = await stored.collection<{ _source: StoredStatement }>(collection).find().toArray();
      return documents.map(({ _source }) => _source);
    },
    async remove() {
      await server.stop();
      await stored.dropDatabase();
      await stored.close();
      await python.remove();
    },
  };
}
