import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { startProcesses } from '../../cli/installation/processes.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { signEmbedToken } from '../../shared/tokens/player-tokens.ts';
import { launchBrowser } from '../../test/support/browser.ts';
import { prepareInstallation, startCheckout } from '../installation.ts';
import { medians, report } from '../rounds.ts';
import { writeBarePage } from './bare-page.ts';
import { timeToFirstStep } from './first-step.ts';
import { fetchH5p, h5pName, writeH5pPage } from './h5p.ts';
import { sampleSteps, writeSampleLesson } from './lesson.ts';
import { reportSizes } from './sizes.ts';

/*
 * Measures the player's size, and how long learners wait for the first step of a lesson with text and pictures: in the
 * embed page, with h5p-standalone, and in a bare HTML page, which is the minimum. With the folder of another checkout as
 * the third argument, its embed page takes turns. It uses a real Chromium, with all
 * servers on loopback, an empty browser cache, and a new learner each time.
 */

const rounds = Number(process.argv[3] ?? 9);
const otherCheckout = process.argv[4];
const bare = 'a bare page of HTML (baseline)';
const h5p = `${h5pName} (baseline)`;

const installation = await prepareInstallation();
const { folder, settings, config, servers, secrets, organization } = installation;
const h5pDist = await fetchH5p(config.cacheDir);
await reportSizes(join(packageRoot, 'player', 'dist', 'player'), h5pDist);

await writeSampleLesson(join(folder, 'package'));
const { lessonId } = await installation.publish(join(folder, 'package'));
const demo = await installation.publish(join(packageRoot, 'demo', 'lesson'));

const site = join(folder, 'site');
await mkdir(site);
await writeBarePage(site);
if (h5pDist !== null) await writeH5pPage(site, h5pDist);
const staticServer = fork(join(import.meta.dirname, 'static-server.ts'), [site]);
const [{ port }] = (await once(staticServer, 'message')) as [{ port: number }];

const processes = await startProcesses(config, servers, { workers: 0, settings });
const browser = await launchBrowser();

let learners = 0;
function embedUrl(url: string, lessonId: string): string {
  const learnerId = `learner-${(learners += 1)}`;
  const claims = {
    organizationId: organization._id,
    lessonId,
    versionId: null,
    learnerId,
    userAttributes: '{}',
  };
  const { token } = signEmbedToken(secrets.signing, claims, 3600);
  return `${url}/embed/${lessonId}?token=${token}`;
}
const firstStep = (url: string) =>
  timeToFirstStep(browser, url, { title: sampleSteps[0]?.title ?? '', hasPicture: true });

/** The API of another checkout, if its folder is given. */
const other = otherCheckout === undefined ? null : await startCheckout(installation, otherCheckout);
/** A link to the first step: the lesson may begin with a cover. */
const demoStep = (url: string) => `${embedUrl(url, demo.lessonId)}#step=59dfa9be-8d15-42bd-9c31-15a631d2d373`;
const embedPages = [
  { what: '', url: processes.url },
  ...(other === null ? [] : [{ what: ` of ${otherCheckout} (baseline)`, url: other.url }]),
].flatMap(({ what, url }) => [
  { name: `Lectern's embed page${what}`, measure: () => firstStep(embedUrl(url, lessonId)) },
  {
    name: `the demo lesson's first step${what}`,
    measure: () =>
      timeToFirstStep(browser, demoStep(url), { title: 'A harbour that breathes', hasPicture: false }),
  },
]);
const page = (name: string, file: string) => ({
  name,
  measure: () => firstStep(`http://127.0.0.1:${port}/${file}`),
});

const times = await medians(
  [page(bare, 'bare.html'), ...(h5pDist === null ? [] : [page(h5p, 'h5p.html')]), ...embedPages],
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
  ...(other === null ? [] : embedPages.slice(2).map(({ name }) => name)),
);

await browser.close();
other?.stop();
await processes.stop();
staticServer.disconnect();
await installation.remove();
