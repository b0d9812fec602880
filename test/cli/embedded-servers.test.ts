import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { openDatabase } from '../../shared/models/database.ts';
import { listOrganizations } from '../../shared/models/organization.ts';
import { acquire } from '../embedded/processes.ts';
import { temporaryFolder } from '../support/folders.ts';
import { waitFor } from '../support/wait-for.ts';
import { lectern, lecternJson, startLectern } from './command-line.ts';
import { allEnded, descendantsOf } from './process-tree.ts';

// Servers start and stop many times.

const create = ['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'solo'];

// Without MongoDB and Redis settings, the commands find or start the data directory's servers.

test('a command starts missing servers only for its own run, and uses running ones, with the data of before; an installation ends with the servers of another process', async () => {
  const dataDir = await temporaryFolder();
  const environment = { LECTERN_DATA_DIR: dataDir, PORT: '0' };
  const { code, stderr } = await lectern(environment, ...create);
  expect(code).toBe(0);
  expect(stderr).toMatch(/^Starting MongoDB\nGenerated secrets .*\n$/);
  expect(await readdir(dataDir)).not.toContain('servers.json');

  const servers = await acquire(dataDir);
  expect(await lecternJson(environment, 'org', 'list')).toMatchObject([{ slug: 'acme' }]);
  // They still run.
  const db = await openDatabase(servers.mongodbUri);
  expect(await listOrganizations(db)).toMatchObject([{ slug: 'acme' }]);
  await db.connection.close();

  const running = startLectern(environment, 'start');
  await running.printed('Lectern is ready at');
  const processes = await descendantsOf(running.pid);
  await servers.release();
  const finished = await running.finished;
  expect(finished).toMatchObject({ code: 1, signal: null });
  expect(finished.stderr).toMatch(/The embedded servers have ended, .*Start Lectern again\.\n$/);
  await allEnded(processes);
});

test('the demo shows an export and plays its lesson, and leaves nothing after Ctrl-C', async () => {
  const running = startLectern({ LECTERN_DATA_DIR: await temporaryFolder(), PORT: '0' }, 'demo');
  const play = await running.printed(/http:\S+\/embed\/\S+\?token=\S+/);
  expect((await fetch(play)).headers.get('content-type')).toMatch(/^text\/html/);
  await running.printed('Press Ctrl-C to stop.');
  const processes = await descendantsOf(running.pid);
  expect(processes.filter(({ command }) => /(api|worker)\/main/.test(command))).toHaveLength(3);
  running.kill('SIGINT', 'group');
  const { stdout, stderr } = await running.finished;
  await allEnded(processes);
  expect(stdout).toMatch(/^lesson\.json +\d.*^manifest\.json +\d.*^media\/.*^widgets\//ms);
  expect(stdout).toMatch(/^Credentials +lkp_\w+\.lks_\w+$/m);
  // No line is a log entry, because the output is for people.
  expect(stdout + stderr).not.toMatch(/^\{|LECTERN_|Warning/m);
});

test('Ctrl-C while the servers start ends the command, and them', async () => {
  const dataDir = await temporaryFolder();
  const running = startLectern({ LECTERN_DATA_DIR: dataDir, PORT: '0' }, 'start');
  await running.printed('Starting MongoDB');
  const processes = await waitFor('MongoDB', async () => {
    const descendants = await descendantsOf(running.pid);
    return descendants.some(({ command }) => command.includes('mongod')) ? descendants : null;
  });
  running.kill('SIGINT', 'group');
  const { signal, stdout } = await running.finished;
  expect({ signal, stdout }).toStrictEqual({ signal: 'SIGINT', stdout: '' });
  await allEnded(processes);
});
