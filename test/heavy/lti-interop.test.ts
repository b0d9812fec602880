import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import type { Link, Tool } from '../../simulator/model.ts';
import type { DriveOptions } from '../../simulator/drive-launch.ts';
import type { Simulator } from '../../simulator/simulator.ts';
import { startSimulator } from '../../simulator/start.ts';
import { fetchLtijs, startLtijs } from './ltijs-tool.ts';
import type { ForeignTool } from './ltijs-tool.ts';

const fetched = await fetchLtijs(inject('cacheDir'));

describe.skipIf(fetched === null)('ltijs, a third-party tool', () => {
  let simulator: Simulator;
  let foreign: ForeignTool;
  let tool: Tool;
  let link: Link;

  beforeAll(async () => {
    if (fetched === null) return;
    // The tests send two scores in a row.
    simulator = await startSimulator({ lineItemQuery: 'required', timestamps: 'milliseconds' });
    foreign = await startLtijs(fetched);
  });
  afterAll(async () => {
    await foreign.close();
    await simulator.close();
  });

  const launch = async (options: DriveOptions) => foreign.open(await simulator.driveLaunch(options));

  test('registers itself', async () => {
    await foreign.register(simulator.registrationUrl(foreign.registrationUrl));
    const [registered] = simulator.tools();
    expect(registered?.redirectUris).not.toHaveLength(0);
    if (registered !== undefined) tool = registered;
  });

  test('adds a link with a line item to a course', async () => {
    const { course, users } = simulator.sample;
    await launch({ user: users.teacher, deepLink: { course, tool } });
    expect(foreign.launched()).toMatchObject({ user: users.teacher.id, course: course.id, link: null });

    const custom = {
      lesson: '17',
      before: '$ResourceLink.id.history',
      who: '$User.id',
      what: '$Unknown.name',
    };
    const { action, jwt } = await foreign.chooseLink('Tides & moons', custom);
    const answer = await fetch(action, { method: 'POST', body: new URLSearchParams({ JWT: jwt }) });
    expect(await answer.text()).toContain('Tides &amp; moons');

    const links = simulator.linksOf(course);
    expect(links).toMatchObject([{ title: 'Tides & moons', custom }]);
    if (links[0] !== undefined) link = links[0];
    expect(simulator.lineItemsOf(link)).toMatchObject([{ label: 'Tides & moons', scoreMaximum: 10 }]);
  });

  test('is launched by several learners', async () => {
    const { course, users } = simulator.sample;
    for (const user of [users.learner, users.secondLearner]) {
      await launch({ user, link });
      const custom = { lesson: '17', before: '', who: user.id, what: '$Unknown.name' };
      expect(foreign.launched()).toStrictEqual({ user: user.id, course: course.id, link: link.id, custom });
    }
  });

  test('recognizes the original of a copied link', async () => {
    const copy = simulator.copyCourse(simulator.sample.course);
    const [linkCopy] = simulator.linksOf(copy);
    if (linkCopy === undefined) throw new Error('The link was not copied.');
    await launch({ user: simulator.sample.users.learner, link: linkCopy });
    expect(foreign.launched()).toMatchObject({
      course: copy.id,
      link: linkCopy.id,
      custom: { before: link.id },
    });
  });

  test('sends scores, whose newest counts, and reads results and line items', async () => {
    const { learner } = simulator.sample.users;
    await launch({ user: learner, link });
    await foreign.sendScore(0);
    await foreign.sendScore(70);

    const [lineItem] = simulator.lineItemsOf(link);
    if (lineItem === undefined) throw new Error('The link has no line item.');
    expect(simulator.scoresOf(lineItem)).toMatchObject([
      { userId: learner.id, scoreGiven: 0, scoreMaximum: 100, gradingProgress: 'FullyGraded' },
      { userId: learner.id, scoreGiven: 70, scoreMaximum: 100, activityProgress: 'Completed' },
    ]);
    expect(await foreign.readResults()).toStrictEqual({ [learner.id]: 7 });
    expect(await foreign.listLineItems()).toStrictEqual(['Tides & moons']);
  });

  test.each([
    ['a foreign signature', { signature: 'another key' }],
    ['no signature', { signature: 'none' }],
    ['a signature with the public key as secret', { signature: 'HS256' }],
    ['a signature with a bit changed', { signature: 'broken' }],
    ['an unknown issuer', { claims: { iss: 'https://lms.example' } }],
    ['a foreign audience', { claims: { aud: 'another tool' } }],
    ['another version of LTI', { claims: { 'https://purl.imsglobal.org/spec/lti/claim/version': '1.1' } }],
    ['a past expiry', { claims: { iat: 1, exp: 2 } }],
  ] as const)('rejects a launch with %s', async (_, tampering) => {
    await expect(launch({ user: simulator.sample.users.learner, link, tampering })).rejects.toThrow();
    await launch({ user: simulator.sample.users.learner, link });
  });

  test('gets a rejection for the score of a teacher', async () => {
    await launch({ user: simulator.sample.users.teacher, link });
    await expect(foreign.sendScore(50)).rejects.toThrow();
    expect(simulator.requests.at(-1)).toMatchObject({ method: 'POST', status: 400 });
  });

  test('continues after the platform has rotated its key', async () => {
    // Tools wait before they request keys again.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
    onTestFinished(() => void vi.useRealTimers());
    await simulator.rotateKey({ keepOld: false });
    await launch({ user: simulator.sample.users.secondLearner, link });
    expect(foreign.launched().user).toBe(simulator.sample.users.secondLearner.id);
  });
});
