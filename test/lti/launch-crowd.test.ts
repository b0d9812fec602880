import { expect, test } from 'vitest';
import { submitLaunch } from '../../simulator/drive-launch.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { claimsOf, answerOf, tokenOf, useLaunchLab } from './support/launch-lab.ts';

const lab = useLaunchLab();

test('200 concurrent launches by different learners from one IP address succeed, each with its own identity', async () => {
  const { simulator, version, address } = lab;
  const link = lab.addLink({ lineItem: { label: 'A lesson', scoreMaximum: 10 } });
  const users = Array.from({ length: 200 }, () => simulator.addUser());
  const driven = await Promise.all(users.map((user) => simulator.driveLaunch({ user, link })));
  const answers = await Promise.all(driven.map(async (launch) => answerOf(await submitLaunch(launch))));
  expect(answers.map((answer) => claimsOf(answer).ltiUserId)).toEqual(users.map(({ id }) => id));

  const session = `${address}/api/public/lessons/${version.lessonId}/session`;
  const sessions = await Promise.all(
    answers.map(async (answer) => jsonOf(await ask(`${session}?token=${tokenOf(answer)}`))),
  );
  expect(sessions.map((one) => (one as { ltiUserId: string }).ltiUserId)).toEqual(users.map(({ id }) => id));
  const scores = await lab.harness.db.ltiScores.distinct('ltiUserId').exec();
  expect(scores.toSorted()).toEqual(users.map(({ id }) => id).toSorted());
  expect(await lab.harness.db.ltiResourceLinks.countDocuments({ resourceLinkId: link.id })).toBe(1);
}, 60_000);
