import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { BenchInstallation } from '../installation.ts';
import { numberedId, writePackage } from '../write-package.ts';

export type Send = (
  method: string,
  path: string,
  body?: string,
  headers?: Record<string, string>,
) => Promise<string>;

/** Sends a request, and notes how long it blocked the event loop if no other of its kind took longer. */
export type Measure = (kind: string, name: string, request: () => Promise<string>) => Promise<void>;

const many = <T>(count: number, of: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => of(index));

interface Bench {
  installation: Pick<BenchInstallation, 'folder' | 'publish'>;
  send: Send;
  measure: Measure;
  tokenOf: (version: LessonVersion, learnerId?: string) => string;
}

const questionsOfStep = 12;

/** Names a question of the largest lesson. */
export function questionOf(number: number): { stepId: string; widgetId: string } {
  const [step, index] = [Math.floor(number / questionsOfStep), number % questionsOfStep];
  return { stepId: `step-${step}`, widgetId: `block-${step}-${index}-${'y'.repeat(12)}` };
}

/** Measures requests about a lesson and records that are as large as Lectern accepts, and forms of that size. */
export async function measureLimits(bench: Bench): Promise<void> {
  const version = await publishLargest(bench.installation);
  await measureLesson(bench, version);
  await measureRecords(bench, version);
  await measureForms(bench);
}

/** A lesson near all limits at once: parts, elements, the length of the outline, and the size of texts. */
export async function publishLargest({
  folder,
  publish,
}: Pick<BenchInstallation, 'folder' | 'publish'>): Promise<LessonVersion> {
  const path = join(folder, 'largest');
  const steps = many(250, (step) => ({
    ...{ id: `step-${step}`, title: `Step ${step} ${'x'.repeat(400)}`, order_index: step },
    content: {
      root: {},
      content: many(48, (index) => {
        const id = `block-${step}-${index}-${'y'.repeat(12)}`;
        const text = `${'<b>word</b> '.repeat(11)}${'z'.repeat(900)}`;
        if (index >= questionsOfStep) return { type: 'Text', props: { id, html: `<p>${text}</p>` } };
        const choices = ['a', 'b', 'c', 'd'].map((choice) => ({ id: choice, html: `choice ${choice}` }));
        return { type: 'MultipleChoice', props: { id, prompt: text, choices, correct: ['a'] } };
      }),
    },
  }));
  const sections = [{ id: 's', title: 's', order_index: 0, steps }];
  await writePackage(path, { lessonId: numberedId(1), versionId: numberedId(2), sections });
  return publish(path);
}

async function measureLesson({ send, measure, tokenOf }: Bench, version: LessonVersion): Promise<void> {
  const { lessonId, _id } = version;
  const of = `/api/lessons/${lessonId}`;
  const requests: [kind: string, method: string, path: string][] = [
    ['page', 'GET', `/embed/${lessonId}?token=${tokenOf(version)}`],
    ['player data', 'GET', `/api/public/lessons/${lessonId}/player-data?token=${tokenOf(version)}`],
    ['check', 'GET', `${of}/versions/${_id}/check`],
    ['preview', 'POST', `${of}/versions/${_id}/preview-links`],
    ['statistics', 'GET', `${of}/statistics`],
  ];
  for (const [kind, method, path] of requests)
    await measure(`largest lesson: ${kind}`, 'first', () => send(method, path));
}

/** Fills records by several writes, and then changes, reads and lists them. */
async function measureRecords({ send, measure, tokenOf }: Bench, version: LessonVersion): Promise<void> {
  const { lessonId, _id: versionId } = version;
  const forms: Record<string, (round: number) => object> = {
    'answers with many parts': (round) => ({
      items: many(300, (index) => ({
        ...questionOf(round * 300 + index),
        answer: many(10, () => ({ a: [{}], b: 'x'.repeat(20) })),
      })),
    }),
    'long answers': (round) => ({
      items: many(300, (index) => ({ ...questionOf(round * 300 + index), answer: 'x'.repeat(600) })),
    }),
    'large states': (round) => {
      const value = { list: many(2_000, (index) => ({ [`key ${index}`]: 'x'.repeat(90) })) };
      return round === 0 ? { progressData: value } : { variableState: { [`v${round}`]: value } };
    },
  };
  for (const [name, fieldsOf] of Object.entries(forms)) {
    const learnerId = randomUUID();
    const session = `/api/public/lessons/${lessonId}/session?token=${tokenOf(version, learnerId)}`;
    let step = 0;
    const write = (fields: object): Promise<string> => {
      const position = { currentSectionIndex: 0, currentStepIndex: step };
      return send('POST', session, JSON.stringify({ versionId, ...position, ...fields }));
    };
    for (let round = 0; round < 4; round += 1)
      await measure('record near the limit: write', `${name}, ${round}`, () => write(fieldsOf(round)));
    step = 1;
    await measure('record near the limit: one answer', name, () =>
      write({ items: [{ ...questionOf(0), answer: 'a' }] }),
    );
    const reads: [kind: string, path: string][] = [
      ['session', session],
      ['page', `/embed/${lessonId}?token=${tokenOf(version, learnerId)}`],
      ['progress', `/api/public/lessons/${lessonId}/progress/${learnerId}`],
      ['export of the learner', `/api/learners/${learnerId}/export`],
    ];
    for (const [kind, path] of reads)
      await measure(`record near the limit: ${kind}`, name, () => send('GET', path));
  }
  for (const list of ['learners', 'learners.csv', 'learners.ndjson', 'answers.csv'])
    await measure(`records near the limit: ${list}`, 'all', () =>
      send('GET', `/api/lessons/${lessonId}/${list}`),
    );
}

async function measureForms({ send, measure }: Bench): Promise<void> {
  const forms: Record<string, (bytes: number) => string> = {
    'many fields': (bytes) => many(bytes / 10, (index) => `k${index}=1`).join('&'),
    'equal fields': (bytes) => 'a=1&'.repeat(bytes / 4),
    separators: (bytes) => '&'.repeat(bytes),
    escapes: (bytes) => `id_token=${'%e2%82%ac'.repeat(bytes / 9)}`,
    'plus signs': (bytes) => `id_token=${'+'.repeat(bytes)}`,
    'a token of points': (bytes) => `state=a&id_token=${'.'.repeat(bytes)}`,
    'a token of JSON': (bytes) => {
      const json = `{"a":${'['.repeat(bytes / 4)}${']'.repeat(bytes / 4)}}`;
      const part = Buffer.from(json).toString('base64url');
      return `state=a&id_token=${part.slice(0, bytes / 3)}.${part.slice(0, bytes / 3)}.a`;
    },
  };
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const bytes = 32 * 1024;
  for (const path of ['/lti/login', '/lti/launch'])
    for (const [name, formOf] of Object.entries(forms))
      await measure(`form: ${path}`, name, () => send('POST', path, formOf(bytes - 200), type));
}
