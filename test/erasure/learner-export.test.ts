import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { exportReadme, explainedFiles, recordFiles } from '../../shared/erasure/export-readme.ts';
import type { StoredAttributes, StoredVariable } from '../../shared/progress/state.ts';
import type { Explained } from '../../shared/erasure/export-readme.ts';
import { countRecords, kindsOf, recordKinds } from '../../shared/models/learner-records.ts';
import type { RecordKind } from '../../shared/models/learner-records.ts';
import { createPlatform } from '../../shared/models/lti-platform.ts';
import type { LtiScore } from '../../shared/models/lti-score.ts';
import { createWebhook } from '../../shared/webhooks/manage.ts';
import { createDestination } from '../../shared/xapi/destinations.ts';
import { filesOf } from '../exports/exports.ts';
import { zipReaders } from '../exports/zip-readers.ts';
import { answerTo, storeLearners } from '../learners/build-learners.ts';
import { publishLesson, useLesson } from '../player/player-lessons.ts';
import { ask } from '../support/answers.ts';
import { buildOrganization } from '../support/factories.ts';
import { testPepper } from '../support/harness.ts';
import { useApi } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { ofSubject, pathOf, plantLearner } from './learner-lab.ts';
import type { MarkedLearner } from './learner-lab.ts';

const api = useApi();
const version = useLesson(api);
const sources = ['embed', 'lti'] as const;

// Writes are in the outbox only if a webhook or an xAPI destination receives them.
beforeAll(async () => {
  const organizationId = api.organization._id;
  await createWebhook(api.db, testPepper, organizationId, {
    ...{ url: 'https://receiver.example/path', description: '' },
    types: ['progress.started', 'progress.scored', 'progress.completed'],
  });
  await createDestination(api.db, testPepper, organizationId, {
    ...{ endpoint: 'https://lrs.example/path', username: 'lectern', password: 'secret', version: '1.0.3' },
    ...{ verbs: [], pseudonyms: false, passingScore: null },
  });
});

/** Creates a learner, each of whose records has every field that Lectern ever stores. */
async function plantFullLearner(source: 'embed' | 'lti'): Promise<MarkedLearner> {
  const issuer = `https://${randomUUID()}.example`;
  const { _id: platformId } = await createPlatform(api.db, {
    ...{ organizationId: api.organization._id, issuer, clientId: 'lectern', deploymentIds: ['1'] },
    ...{ authUrl: issuer, tokenUrl: issuer, jwksUrl: issuer, tokenAudience: null },
    ...{ name: null, status: 'active' },
  });
  const learner = await plantLearner(api, version, { source, platformId });
  await learner.player.write({
    ...{ currentSectionIndex: 1, currentStepIndex: 0, completed: true },
    progressData: { long: 'é😀'.repeat(20_000) },
    items: [
      { widgetId: 'dial', answer: '=1+1' },
      { widgetId: 'q3', answer: ['b'] },
    ],
    stepTimes: { s3: 1500 },
  });
  const at = new Date();
  const record = source === 'embed' ? api.db.embedProgress : api.db.ltiProgress;
  await record.collection.updateOne(ofSubject(learner), { $set: { updateDueAt: at } });
  const grade: Partial<LtiScore> = {
    wanted: { scoreGiven: 1, scoreMaximum: 3, finishedAt: at, revision: 2 },
    failure: { at, since: at, reason: 'rejected', status: 400, body: 'a response' },
  };
  await api.db.ltiScores.updateOne({ ltiUserId: learner.markers[0] }, { $set: grade });
  return learner;
}

/** Exports a learner; returns the archive. */
async function exportOf(learner: MarkedLearner): Promise<Buffer> {
  const answer = await ask(api.url + pathOf(learner, {}, '/export'), { headers: api.headers });
  expect(answer.status).toBe(200);
  return answer.body;
}

/** What learners and integrators wrote: Lectern does not know its fields. */
const foreign = new Set(['progressData', 'variables', 'userAttributes', 'items[].answer', 'body']);

/** Returns the paths of all fields in a JSON value. */
function pathsIn(value: unknown, at = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((entry) => pathsIn(entry, at && `${at}[]`));
  if (typeof value !== 'object' || value === null || foreign.has(at)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = at === '' ? name : `${at}.${name}`;
    return [path, ...pathsIn(inner, path)];
  });
}

/** Returns the fields or columns of a file. */
function fieldsIn(name: string, text: string): string[] {
  return name.endsWith('.csv') ? (text.split('\r\n')[0] ?? '').split(',') : pathsIn(JSON.parse(text));
}

const explainedPaths = ({ fields }: Explained) => fields.flatMap(([paths]) => paths.split(', '));

describe('the fields of an export', () => {
  test('are exactly those that README.txt explains', async () => {
    const found = new Map<string, Set<string>>();
    for (const source of sources) {
      const learner = await plantFullLearner(source);
      await exportOf(learner);
      const files = await waitFor('the first export in the audit log', async () => {
        const read = await filesOf(await exportOf(learner));
        return String(read.get('access.json')).includes('learner.export') ? read : undefined;
      });
      const readme = String(files.get('README.txt'));
      files.delete('README.txt');
      for (const [name, content] of files) {
        found.set(name, new Set([...(found.get(name) ?? []), ...fieldsIn(name, String(content))]));
        const { fields } = explainedFiles.find((file) => file.name === name) as Explained;
        const section = readme
          .slice(readme.indexOf(`\n${name}\n---`))
          .split('\n\n')
          .slice(0, 2)
          .join('\n');
        for (const [paths, meaning] of fields) expect(section).toContain(`\n  ${paths}\n      ${meaning}`);
      }
    }
    const sorted = [...found].map(([name, fields]): [string, string[]] => [name, [...fields].toSorted()]);
    expect(Object.fromEntries(sorted)).toEqual(
      Object.fromEntries(explainedFiles.map((file) => [file.name, explainedPaths(file).toSorted()])),
    );
  });

  test('are explained in lines that a text editor need not wrap', () => {
    const lines = exportReadme([...recordKinds], 'Acme', new Date()).split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  /** Fields that coordinate processes, and what needs the scope `deliveries`. */
  const ofProgress = [
    ...['_id', 'organizationId', 'recentWriteIds', 'updateDueAt', 'erasedAt'],
    ...['positionOrder', 'progressDataOrder', 'items[].writeId'],
  ];
  const omitted: Record<RecordKind, string[]> = {
    progress: ofProgress,
    ltiProgress: [...ofProgress, 'gradeAskedAt'],
    grades: [...['_id', 'organizationId', 'leaseId', 'leaseUntil', 'failure.body', 'sent.response.body']],
    deliveries: [
      ...['_id', 'organizationId', 'leaseId', 'leaseUntil', 'targetId', 'fieldOfAnotherRelease'],
      ...['failure.body', 'attempts[].milliseconds', 'attempts[].error', 'attempts[].response'],
    ],
  };
  /** Fields of MongoDB with JSON as text. */
  const texts = new Set(['progressData', 'items[].answer', 'body']);

  /** Returns what the export should have of a value in MongoDB. */
  function expected(value: unknown, without: readonly string[], at = ''): unknown {
    if (value instanceof Date) return value.toISOString();
    if (typeof value === 'string' && texts.has(at)) return JSON.parse(value);
    if (typeof value === 'string' && at === 'sent.lineItemUrl') return new URL(value).origin;
    if (at === 'variables')
      return Object.fromEntries(
        (value as StoredVariable[]).map(({ name, value: text }) => [name, JSON.parse(text) as unknown]),
      );
    if (at === 'userAttributes' && value !== null) return JSON.parse((value as StoredAttributes).text);
    if (Array.isArray(value)) return value.map((entry) => expected(entry, without, `${at}[]`));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([name, inner]) => {
      const path = at === '' ? name : `${at}.${name}`;
      return [path, name, expected(inner, without, path)] as const;
    });
    const kept = entries.filter(
      ([path, , inner]) => !without.includes(path) && !(path === 'items[].tries' && inner === 1),
    );
    return Object.fromEntries(kept.map(([, name, inner]) => [name, inner]));
  }

  test.each(sources)('for %s are all that MongoDB has, except for a fixed list', async (source) => {
    const learner = await plantFullLearner(source);
    const files = await filesOf(await exportOf(learner));
    const [id] = learner.markers;
    const { embedProgress, ltiProgress, ltiScores, eventDeliveries } = api.db;
    const collections = {
      progress: embedProgress,
      ltiProgress,
      grades: ltiScores,
      deliveries: eventDeliveries,
    };
    for (const kind of kindsOf(learner.subject)) {
      const $or = ['learnerId', 'ltiUserId'].map((name) => ({ [name]: id }));
      const stored = await collections[kind].collection
        .find({ $or })
        .sort({ createdAt: -1, _id: 1 })
        .toArray();
      expect(stored.length).toBeGreaterThan(0);
      expect(JSON.parse(String(files.get(recordFiles[kind].name)))).toEqual(
        stored.map((record) => expected(record, omitted[kind])),
      );
    }
  });
});

describe('an archive', () => {
  const hasPython = spawnSync('python3', ['--version']).status === 0;
  const parse = `
import csv, io, json, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
texts = {info.filename: archive.read(info).decode("utf-8", "strict") for info in archive.infolist()}
tables = {name: list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
          for name, text in texts.items() if name.endswith(".csv")}
for name, text in texts.items():
    if name.endswith(".json"): json.loads(text)
print(json.dumps(tables))
`;

  test.skipIf(!hasPython)('has UTF-8, JSON and CSV that Python reads, without formulas', async () => {
    const hostile = ['=1+1', '\r=1', 'x\n=1', 'a,"b"\r\nc; é 你 😀'];
    const learner = await plantLearner(api, version, { source: 'embed' });
    const path = join(api.config.dataDir, `${randomUUID()}.zip`);
    for (const answer of hostile) {
      await learner.player.write({
        ...{ currentSectionIndex: 1, currentStepIndex: 0 },
        items: [{ widgetId: 'dial', answer }],
      });
      await writeFile(path, await exportOf(learner));
      const { stdout } = await promisify(execFile)('python3', ['-c', parse, path]);
      const { 'answers.csv': answers = [], 'lessons.csv': lessons } = JSON.parse(stdout) as Record<
        string,
        Record<string, string>[]
      >;
      expect(lessons).toMatchObject([{ lessonId: version.lessonId, status: 'in_progress' }]);
      const escaped = /^[=+\-@\t\r]/.test(answer) ? `'${answer}` : answer;
      expect(answers).toMatchObject([{ questionId: 'dial', answer: escaped }]);
    }
  });

  test('has a row for each answer, also of very many', async () => {
    const learnerId = `learner-${randomUUID()}`;
    const items = Array.from({ length: 120 }, (_, index) => answerTo(`w${index}`, index));
    await storeLearners(api.db, version, [{ learnerId, items }]);
    const url = `${api.url}/api/learners/${learnerId}/export`;
    const files = await filesOf((await ask(url, { headers: api.headers })).body);
    const [, ...rows] = String(files.get('answers.csv')).trimEnd().split('\r\n');
    expect(rows.map((row) => row.split(',').at(-1))).toEqual(items.map(({ widgetId }) => widgetId));
  });

  test.each(zipReaders.filter(({ available }) => available))('opens in $name', async ({ read }) => {
    const path = join(api.config.dataDir, `${randomUUID()}.zip`);
    await writeFile(path, await exportOf(await plantFullLearner('lti')));
    const names = (await read(path)).map(({ name }) => name);
    expect(names).toEqual([
      ...['README.txt', 'learner.json', 'lessons.csv', 'answers.csv', 'progress.json', 'grades.json'],
      ...['messages.json', 'access.json', 'recipients.json'],
    ]);
  });
});

describe.each(sources)('for %s', (source) => {
  test('an export has every record that an erasure removes, and none of other learners with the same id', async () => {
    const learner = await plantLearner(api, version, { source });
    const id = learner.markers[0] as string;
    // More than one page of them.
    const { collection } = api.db.eventDeliveries;
    const record = await collection.findOne({ learnerId: id });
    const copies = Array.from({ length: 30 }, () => ({ ...record, _id: randomUUID() }));
    await collection.insertMany(copies as never);
    const { organization } = await buildOrganization(api);
    const others = [
      await plantLearner(api, version, { source: source === 'lti' ? 'embed' : 'lti', id }),
      await plantLearner(api, await publishLesson(api, organization), { source, id }),
    ];
    await learner.player.write({
      ...{ currentSectionIndex: 1, currentStepIndex: 0 },
      items: [{ widgetId: 'dial', answer: '=1+1' }],
    });
    const counts = await countRecords(api.db, learner.subject);
    expect(counts).toMatchObject({ deliveries: 36 });
    const answer = await ask(api.url + pathOf(learner, {}, '/export'), { headers: api.headers });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-disposition')).toMatch(
      /^attachment; filename="learner-[\d-]{10}\.zip"$/,
    );
    const files = await filesOf(answer.body);
    const all = [...files.values()].map(String).join('\n');
    const visible = learner.markers.filter((marker) => !learner.hidden.includes(marker));
    expect([...visible, ...learner.hidden].filter((marker) => all.includes(marker))).toEqual(visible);
    for (const marker of others.flatMap(({ markers }) => markers.slice(1))) expect(all).not.toContain(marker);
    for (const kind of kindsOf(learner.subject)) {
      expect(JSON.parse(String(files.get(recordFiles[kind].name)))).toHaveLength(counts[kind]);
    }
    expect(String(files.get('answers.csv'))).toContain(",'=1+1,");
  });
});
