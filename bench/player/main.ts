import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcesses } from '../../cli/processes.ts';
import { parseConfig } from '../../shared/config.ts';
import { buildIndexes, openDatabase } from '../../shared/models/database.ts';
import { createOrganization } from '../../shared/models/organization.ts';
import { importPackage } from '../../shared/packages/import.ts';
import { packageRoot } from '../../shared/paths.ts';
import { signEmbedToken } from '../../shared/player-tokens.ts';
import { publishVersion } from '../../shared/publishing.ts';
import { loadSecrets } from '../../shared/secrets.ts';
import { findServers } from '../../shared/servers.ts';
import { createStore } from '../../shared/storage/create-store.ts';
import { launchBrowser } from '../../test/support/browser.ts';
import { removeBench } from '../remove.ts';
import { medians, report } from '../rounds.ts';
import { writeBarePage } from './bare-page.ts';
import { timeToFirstStep } from './first-step.ts';
import { fetchH5p, h5pName, writeH5pPage } from './h5p.ts';
import { sampleSteps, writePackage } from './lesson.ts';
import { reportSizes } from './sizes.ts';

/*
 * How large the player is, and how long learners wait for the first step of a lesson of text and pictures: in the
 * embed page, with h5p-standalone showing the same, and in a bare page of HTML, the floor. A real Chromium, everything
 * on loopback, nothing in the browser's cache, each learner for the first time.
 */

const rounds = Number(process.argv[3] ?? 9);
const bare = 'a bare page of HTML (baseline)';
const h5p = `${h5pName} (baseline)`;

const folder = await mkdtemp(join(tmpdir(), 'lectern-bench-'));
const settings = {
  LOG_LEVEL: 'error',
  PORT: '0',
  LECTERN_DATA_DIR: join(folder, 'data'),
  RATE_LIMIT_PER_ADDRESS: '0',
};
const config = parseConfig({ ...process.env, ...settings });
const h5pDist = await fetchH5p(config.cacheDir);
await reportSizes(join(packageRoot, 'player', 'dist', 'player'), h5pDist);

const servers = await findServers(config, (message) => console.error(message));
const db = await openDatabase(servers.mongodbUri);
await buildIndexes(db);
const store = await createStore(config);
const secrets = await loadSecrets(config, () => undefined);

await writePackage(join(folder, 'package'));
const organization = await createOrganization(db, { slug: 'bench', name: 'Bench', plan: 'edtech' });
const { version } = await importPackage({ db, store, config }, organization, join(folder, 'package'), {
  asNew: false,
  signal: new AbortController().signal,
});
const { lessonId } = await publishVersion(db, store, version._id, { force: false });

const site = join(folder, 'site');
await mkdir(site);
await writeBarePage(site);
if (h5pDist !== null) await writeH5pPage(site, h5pDist);
const staticServer = fork(join(import.meta.dirname, 'static-server.ts'), [site]);
const [{ port }] = (await once(staticServer, 'message')) as [{ port: number }];

const processes = await startProcesses(config, servers, { workers: 0, settings });
const browser = await launchBrowser();

let learners = 0;
function embedAddress(): string {
  const learnerId = `learner-${(learners += 1)}`;
  const claims = {
    organizationId: organization._id,
    lessonId,
    versionId: null,
    learnerId,
    userAttributes: '{}',
  };
  const { token } = signEmbedToken(secrets.signing, claims, 3600);
  return `${processes.address}/embed/${lessonId}?token=${token}`;
}
const firstStep = (url: string) => timeToFirstStep(browser, url, sampleSteps[0]?.title ?? '');
const page = (name: string, file: string) => ({
  name,
  measure: () => firstStep(`http://127.0.0.1:${port}/${file}`),
});

const times = await medians(
  [
    page(bare, 'bare.html'),
    ...(h5pDist === null ? [] : [page(h5p, 'h5p.html')]),
    { name: "Lectern's embed page", measure: () => firstStep(embedAddress()) },
  ],
  rounds,
);
const [cpu] = cpus();
console.log(
  `\n${cpus().length} × ${cpu?.model}, Node ${process.version}, Chromium ${browser.version()}, medians of ${rounds} rounds`,
);
report(
  'From navigation to the first step, cold cache, relative to each baseline',
  times,
  bare,
  ...(h5pDist === null ? [] : [h5p]),
);

await browser.close();
await processes.stop();
staticServer.disconnect();
await db.connection.close();
await removeBench(folder, config, servers);
