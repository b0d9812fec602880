import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeStatements } from '../../shared/outgoing/statement-rows.ts';
import { createLogger } from '../../shared/platform/log.ts';
import { createDestination } from '../../shared/xapi/destinations.ts';
import { Player, publishLesson, question, section, step } from '../player/player-lessons.ts';
import { buildLearnerToken } from '../support/factories.ts';
import { testPepper } from '../support/harness.ts';
import { longestBlock, maxBlockMs } from '../support/longest-block.ts';
import { useApi } from '../support/use.ts';

/* Statements of lessons and answers that would harm the deliveries of others. No worker runs: the tests publish. */

const api = useApi();

function addDestination(endpoint: string) {
  return createDestination(api.db, testPepper, api.organization._id, {
    ...{ endpoint, username: 'lectern', password: 'a password' },
    ...{ version: '1.0.3', verbs: ['answered'], pseudonyms: false, passingScore: null },
  });
}

async function publishNow(): Promise<void> {
  const log = createLogger({ logLevel: 'silent' }, 'test');
  const deps = { db: api.db, log, publicUrl: 'http://localhost', pepper: testPepper };
  await makeStatements(deps, new AbortController().signal);
}

/** Answers a question of a lesson, and publishes the statement. Returns it. */
async function answer(props: object, given: unknown) {
  const { type, props: usual } = question('q1');
  const block = { type, props: { ...usual, ...props } };
  const version = await publishLesson(api, api.organization, {
    sections: [section('one', step('s1', block))],
  });
  await api.db.xapiDestinations.deleteMany({});
  await addDestination('https://lrs.invalid/');
  const learnerId = randomUUID();
  const player = new Player(api.url, version, buildLearnerToken(version, { learnerId }));
  await player.write({ items: [{ widgetId: 'q1', answer: given }] });
  await publishNow();
  const { body } = await api.db.eventDeliveries.findOne({ learnerId }).lean().orFail();
  return JSON.parse(body) as {
    object: { definition: { name: { en: string }; choices: { id: string; description: { en: string } }[] } };
    result: { response: string };
  };
}

test('a choice with a huge id is left out, and stops no event', async () => {
  const choices = [
    { id: 'x'.repeat(1_900_000), html: 'large' },
    { id: 'b', html: 'right' },
  ];
  const { object } = await answer({ choices }, ['b']);
  expect(object.definition.choices).toEqual([{ id: 'b', description: { en: 'right' } }]);
});

test('long texts of many choices are shortened together', async () => {
  const choices = Array.from({ length: 50 }, (_, index) => ({ id: `c${index}`, html: 'text '.repeat(1000) }));
  const { object } = await answer({ choices }, ['c0']);
  const texts = object.definition.choices.map(({ description }) => description.en);
  expect(texts[0]).toHaveLength(200);
  expect(texts.at(-1)).toBe('c49');
  expect(JSON.stringify(object).length).toBeLessThan(10_000);
});

test('a question of many angle brackets is read in time', async () => {
  let name = '';
  const block = await longestBlock(async () => {
    const { object } = await answer({ question: '<'.repeat(200_000) }, ['b']);
    name = object.definition.name.en;
  });
  expect(name).toMatch(/^<{200}$/);
  expect(block).toBeLessThan(maxBlockMs);
});

test.each([[[{ toString: 1 }, 'b']], [{ a: { toString: 1, valueOf: 1 } }]])(
  'an answer whose parts have no text, %j, does not keep a learner’s statements back',
  async (given) => {
    const { result } = await answer({}, given);
    expect(result.response).toContain('toString');
  },
);

test('statements about 1,000 answers for five destinations are written while other work goes on', async () => {
  const choices = Array.from({ length: 20 }, (_, index) => ({ id: `c${index}`, html: 'x'.repeat(80) }));
  const blocks = Array.from({ length: 1_000 }, (_, index) => {
    const { type, props } = question(`q${index}`);
    return { type, props: { ...props, choices } };
  });
  const version = await publishLesson(api, api.organization, {
    sections: [section('one', step('s1', ...blocks))],
  });
  await api.db.xapiDestinations.deleteMany({});
  for (const name of ['a', 'b', 'c', 'd', 'e']) await addDestination(`https://${name}.invalid/`);
  const learnerId = randomUUID();
  const player = new Player(api.url, version, buildLearnerToken(version, { learnerId }));
  await player.write({ items: blocks.map(({ props }) => ({ widgetId: props.id, answer: ['c0'] })) });
  const block = await longestBlock(publishNow);
  expect(await api.db.eventDeliveries.countDocuments({ learnerId })).toBe(5_000);
  expect(block).toBeLessThan(maxBlockMs);
});
