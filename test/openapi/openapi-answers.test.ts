import { expect, test } from 'vitest';
import { buildUser, openSession } from '../accounts/users.ts';
import { ask } from '../support/answers.ts';
import type { AskOptions } from '../support/answers.ts';
import { buildLearnerToken, buildPackage, buildVersion, statusPath } from '../support/factories.ts';
import { useApi, useStarted } from '../support/use.ts';

/* Documented responses that no other test gets: `ask` compares each response with the OpenAPI document. */

const api = useApi();
const built = useStarted(
  async () => {
    const { path, mediaIds } = await buildPackage({ media: [{ bytes: Buffer.from('GIF89a') }] });
    const version = await buildVersion(api, api.organization, path);
    const { user } = await buildUser(api, { organization: api.organization });
    const medium = `/api/public/lessons/${version.lessonId}/media/${mediaIds[0]}?token=${buildLearnerToken(version)}`;
    return { version, medium, session: await openSession(api.url, user) };
  },
  () => Promise.resolve(),
);

test.each<[what: string, path: () => string, options: () => AskOptions]>([
  [
    "a user's lesson",
    () => `/api/lessons/${built.version.lessonId}/player-data`,
    () => ({ headers: built.session }),
  ],
  ["a learner's medium", () => built.medium, () => ({})],
])('%s over the rate limit gets 429', async (_what, path, options) => {
  const limited = await api.startApi({ RATE_LIMIT_PER_KEY: '1', RATE_LIMIT_PER_ADDRESS: '1' });
  await ask(limited + path(), options());
  expect((await ask(limited + path(), options())).status).toBe(429);
});

test('a file gets 412 for another ETag, and an event stream 204 after its end', async () => {
  const file = (await ask(api.url + built.medium)).headers.get('location') ?? '';
  const other = { headers: { 'if-match': '"another"' } };
  expect((await ask(new URL(file, api.url).href, other)).status).toBe(412);
  const ended = { ...api.headers, accept: 'text/event-stream', 'last-event-id': 'none' };
  expect((await ask(api.url + statusPath(built.version), { headers: ended })).status).toBe(204);
});
