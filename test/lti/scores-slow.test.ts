import { expect, test } from 'vitest';
import type { Fault, Service } from '../../simulator/faults.ts';
import { gradeScopes } from '../../shared/lti/claims.ts';
import { completed, useScoreLab } from './support/score-lab.ts';

/* A slow platform: a score waits no longer than its timeout, and is not lost. */

const lab = useScoreLab(() => [], {}, { timeoutMs: 3_000 });

test.each<[title: string, service: Service, fault: Fault, taken: number[]]>([
  ['does not respond to a score', 'scores', { hang: true }, [20]],
  ['accepts a score and does not respond', 'scores', { hang: true, afterwards: true }, [10, 20]],
  ['issues no token', 'token', { hang: true }, [20]],
])('a platform that %s gets a later attempt with the newest score', async (_title, service, fault, taken) => {
  const learner = await lab.addLearner();
  await lab.tell(learner, completed(10));
  lab.service.tokens.forget(lab.platform, [gradeScopes.score]);
  lab.simulator.fail(service, fault);
  expect(await lab.send(learner)).toBe('timeout');
  expect(await lab.rowOf(learner)).toMatchObject({
    state: 'waiting',
    tries: 1,
    failure: { reason: 'timeout', status: null },
  });

  await lab.tell(learner, completed(20));
  expect(await lab.send(learner)).toBe('sent');
  const scores = lab.taken(learner);
  expect(scores.map(({ scoreGiven }) => scoreGiven)).toEqual(taken);
  const times = scores.map(({ timestamp }) => Date.parse(timestamp));
  expect(times).toEqual([...new Set(times)].toSorted((one, other) => one - other));
});
