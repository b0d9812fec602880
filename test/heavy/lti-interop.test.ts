import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import type { Link, Tool } from '../../simulator/model.ts';
import type { DriveOptions } from '../../simulator/drive-launch.ts';
import type { Simulator } from '../../simulator/simulator.ts';
import { startSimulator } from '../../simulator/start.ts';
import { fetchTools } from './fetched-tools.ts';
import type { ForeignTool } from './foreign-tool.ts';
import { startLtiToolCore } from './lti-tool-core-tool.ts';
import { startLtijs } from './ltijs-tool.ts';

const fetched = await fetchTools(inject('cacheDir'));

const kinds = [
  { name: 'ltijs 5.9.9', start: startLtijs, lineItemQuery: 'required' },
  // It takes the query off the addresses of line items, which Moodle lets it do.
  { name: '@lti-tool/core 1.0.6', start: startLtiToolCore, lineItemQuery: 'optional' },
] as const;

describe.skipIf(fetched === null).each(kinds)('$name, which others wrote', ({ start, lineItemQuery }) => {
  let simulator: Simulator;
  let foreign: ForeignTool;
  let tool: Tool;
  let link: Link;

  beforeAll(async () => {
    if (fetched === null) return;
    // Two scores follow each other at once.
    simulator = await startSimulator({ lineItemQuery, timestamps: 'milliseconds' });
    foreign = await start(fetched);
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

  test('puts a link with a line item into a course', async () => {
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

  test('is launched by learner after learner', async () => {
    const { course, users } = simulator.sample;
    for (const user of [users.learner, users.secondLearner]) {
      await launch({ user, link });
      const custom = { lesson: '17', before: '', who: user.id, what: '$Unknown.name' };
      expect(foreign.launched()).toStrictEqual({ user: user.id, course: course.id, link: link.id, custom });
    }
  });

  test('finds its way back from a copy of the course', async () => {
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

  test('sends scores, of which the newest counts, and reads the results and line items back', async () => {
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
    ['an issuer that it does not know', { claims: { iss: 'https://lms.example' } }],
    ['a foreign audience', { claims: { aud: 'somebody else' } }],
    ['another version of LTI', { claims: { 'https://purl.imsglobal.org/spec/lti/claim/version': '1.1' } }],
    ['a time that is over', { claims: { iat: 1, exp: 2 } }],
  ] as const)('refuses a launch with %s', async (_, tampering) => {
    await expect(launch({ user: simulator.sample.users.learner, link, tampering })).rejects.toThrow();
    await launch({ user: simulator.sample.users.learner, link });
  });

  test('is refused a score for a teacher', async () => {
    await launch({ user: simulator.sample.users.teacher, link });
    await expect(foreign.sendScore(50)).rejects.toThrow();
    expect(simulator.requests.at(-1)).toMatchObject({ method: 'POST', status: 400 });
  });

  test('goes on after the platform has changed its key', async () => {
    // Tools wait a while before they ask for keys again.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
    onTestFinished(() => void vi.useRealTimers());
    await simulator.rotateKey({ keepOld: false });
    await launch({ user: simulator.sample.users.secondLearner, link });
    expect(foreign.launched().user).toBe(simulator.sample.users.secondLearner.id);
  });
});
