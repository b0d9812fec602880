import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { countInTurn } from '../../shared/learners/count-learners.ts';
import { requestStatistics } from '../../shared/models/lesson-statistics.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { messageOf } from '../../shared/platform/errors.ts';
import { PreparedLessons } from '../../shared/player/prepared-lessons.ts';
import { signEmbedToken } from '../../shared/tokens/player-tokens.ts';
import { compile } from '../../esbuild.config.ts';
import { prepareInstallation, startCompiledApi } from '../installation.ts';
import type { BenchInstallation } from '../installation.ts';
import { numberedId, writePackage } from '../write-package.ts';
import { measureLimits } from './limits.ts';
import type { Measure, Send } from './limits.ts';
import { costs, recording } from './recorder.ts';

/* Measures how long hostile requests, and first loads of hostile lessons, block the event loop of the API. */

const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const many = (count: number, of: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => of(index)).join(',');
const mebibyte = 1024 ** 2;

/** Texts of JSON values of about this many bytes. */
const values: Record<string, (bytes: number) => string> = {
  'nested arrays': (bytes) => deep(bytes / 2),
  'nested objects': (bytes) => `${'{"a":'.repeat(bytes / 6)}1${'}'.repeat(bytes / 6)}`,
  'arrays 190 deep': (bytes) => `[${many(bytes / 381, () => deep(190))}]`,
  'empty objects': (bytes) => `[${many(bytes / 3, () => '{}')}]`,
  'keys of one object': (bytes) => `{${many(bytes / 11, (index) => `"k${index}":1`)}}`,
  'equal keys': (bytes) => `{${many(bytes / 6, () => '"a":1')}}`,
  'keys that are numbers': (bytes) => `{${many(bytes / 11, (index) => `"${index * 7}":1`)}}`,
  'a long number': (bytes) => '1'.repeat(bytes),
  'small numbers': (bytes) => `[${many(bytes / 7, () => '1e-300')}]`,
  escapes: (bytes) => `"${'\\u0000'.repeat(bytes / 6)}"`,
  'halves of surrogate pairs': (bytes) => `"${'\\ud800'.repeat(bytes / 6)}"`,
  'a text': (bytes) => `"${'x'.repeat(bytes)}"`,
  blanks: (bytes) => `${' '.repeat(bytes)}1`,
  'not JSON': (bytes) => '"\\'.repeat(bytes / 2),
};

/**
 * Starts an API and prints the longest block of its event loop for each request.
 *
 * @param lessons the blocks of each step
 */
export async function measureRequests(
  lessons: Record<string, () => { props: { id: string } }[][]>,
): Promise<void> {
  await compile();
  const installation = await prepareInstallation();
  const api = await startCompiledApi(installation, {}, recording);
  const { authorization } = installation;
  const send: Send = async (method, path, body, headers = {}) => {
    const response = await fetch(`http://127.0.0.1:${api.port}${path}`, {
      method,
      headers: {
        authorization,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body }),
    });
    const { byteLength } = await response.arrayBuffer();
    return `${response.status}, ${byteLength} bytes`;
  };
  const longest = new Map<string, { block: number; what: string }>();
  const measure: Measure = async (kind, name, request) => {
    await costs(api);
    const verdict = await request();
    const { block } = await costs(api);
    if (block > (longest.get(kind)?.block ?? -1)) longest.set(kind, { block, what: `${name}: ${verdict}` });
  };
  const tokenOf = ({ organizationId, lessonId }: LessonVersion, learnerId: string = randomUUID()) =>
    signEmbedToken(
      installation.secrets.signing,
      { organizationId, lessonId, versionId: null, learnerId, userAttributes: '{}' },
      600,
    ).token;
  try {
    const versions: Record<string, { version: LessonVersion; items: object[] }> = {};
    for (const [name, content] of Object.entries(lessons)) {
      const path = join(installation.folder, 'package');
      const steps = content().map((blocks, index) => {
        const id = `step-${index}`;
        return { id, title: 's', order_index: index, content: { root: {}, content: blocks } };
      });
      const questions = steps.flatMap(({ id: stepId, content: { content: blocks } }) =>
        blocks.map(({ props }) => ({ stepId, widgetId: props.id, answer: ['a'] })),
      );
      const sections = [{ id: 's', title: 's', order_index: 0, steps }];
      await writePackage(path, { lessonId: numberedId(1), versionId: numberedId(2), sections });
      try {
        versions[name] = { version: await installation.publish(path), items: questions.slice(-1_000) };
      } catch (error) {
        console.log(`${name.padEnd(34)} is rejected: ${messageOf(error).slice(0, 60)}`);
      }
    }
    await send('GET', '/api/lessons');
    for (const [name, { version, items }] of Object.entries(versions)) {
      const { lessonId, _id } = version;
      const token = tokenOf(version);
      const lesson = `/api/public/lessons/${lessonId}`;
      await measure('first page', name, () => send('GET', `/embed/${lessonId}?token=${token}`));
      await measure('first player data', name, () => send('GET', `${lesson}/player-data?token=${token}`));
      await measure('check', name, () => send('GET', `/api/lessons/${lessonId}/versions/${_id}/check`));
      const position = { versionId: _id, currentSectionIndex: 0, currentStepIndex: 0 };
      await measure('1,000 answers', name, () =>
        send('POST', `${lesson}/session?token=${token}`, JSON.stringify({ ...position, items })),
      );
      await count(installation, version);
      await measure('statistics', name, () => send('GET', `/api/lessons/${lessonId}/statistics`));
      await measure('answers', name, () => send('GET', `/api/lessons/${lessonId}/answers.csv`));
    }
    const version = Object.values(versions)[0]?.version;
    if (version === undefined) return;
    for (const [name, valueOf] of Object.entries(values)) {
      const session = `/api/public/lessons/${version.lessonId}/session?token=${tokenOf(version)}`;
      const of = (fields: string) =>
        `{"versionId":"${version._id}","currentSectionIndex":0,"currentStepIndex":0,${fields}}`;
      const large = valueOf(mebibyte / 4 - 1000);
      const bodies = {
        progressData: of(`"progressData":${large}`),
        variableState: of(`"variableState":${large}`),
        items: of(`"items":${large}`),
        answer: of(`"items":[{"widgetId":"q","answer":${large}}]`),
        stepTimes: of(`"stepTimes":${large}`),
        body: large,
      };
      for (const [field, body] of Object.entries(bodies))
        await measure(`session, ${field}`, name, () => send('POST', session, body));
      const small = valueOf(64 * 1024 - 200);
      const key = () => ({ 'Idempotency-Key': randomUUID() });
      await measure('webhook', name, () => send('POST', '/api/webhooks', `{"url":${small}}`, key()));
      await measure('token', name, () =>
        send(
          'POST',
          '/api/public/sign-token',
          `{"lessonId":"${version.lessonId}","learnerId":"a","userAttributes":${small}}`,
        ),
      );
    }
    await measureLimits({ installation, send, measure, tokenOf });
    for (const [kind, { block, what }] of longest)
      console.log(`${kind.padEnd(34)} ${`${block} ms`.padStart(12)}   ${what}`);
  } finally {
    await api.stop();
    await installation.remove();
  }
}

/** Counts the learners of a version, as a worker does. */
async function count({ db }: Pick<BenchInstallation, 'db'>, version: LessonVersion): Promise<void> {
  await requestStatistics(db, version);
  await countInTurn({ db, lessons: new PreparedLessons(db, mebibyte) })(new AbortController().signal);
}
