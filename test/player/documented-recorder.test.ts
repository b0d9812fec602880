import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { packageRoot } from '../../shared/platform/paths.ts';
import { buildLearnerToken } from '../support/factories.ts';
import { temporaryFolder } from '../support/folders.ts';
import { useApi } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { Player, useLesson } from './player-lessons.ts';
import { memoryStorage } from '../support/memory-storage.ts';

/* The recorder of docs/player-api.md, as it is printed there. */

type CreateRecorder = (options: object) => {
  record(name: string, position: object, fields: object): void;
  send(): Promise<void>;
};

const api = useApi();
const version = useLesson(api);

async function loadExample(): Promise<CreateRecorder> {
  const page = await readFile(join(packageRoot, 'docs/player-api.md'), 'utf8');
  const [, source = ''] = /```js\n(.*?)```/s.exec(page) ?? [];
  expect(source.split('\n').length).toBeLessThanOrEqual(60);
  const file = join(await temporaryFolder(), 'recorder.mjs');
  await writeFile(file, source);
  const { createRecorder } = (await import(pathToFileURL(file).href)) as { createRecorder: CreateRecorder };
  return createRecorder;
}

test('the recorder in the documentation loses nothing offline, and drops only what Lectern refuses', async () => {
  const createRecorder = await loadExample();
  const token = buildLearnerToken(version, { learnerId: randomUUID() });
  const player = new Player(api.url, version, token);
  const url = `${api.url}/api/public/lessons/${version.lessonId}/session?token=${token}`;
  const storage = memoryStorage();
  const fields = { key: 'learner', versionId: version._id, attempt: 1, storage };
  const merged: unknown[] = [];
  const offline = createRecorder({ ...fields, url: 'http://127.0.0.1:1/', onMerged: () => undefined });
  const [second, third] = [
    { currentSectionIndex: 0, currentStepIndex: 1 },
    { currentSectionIndex: 1, currentStepIndex: 0 },
  ];
  offline.record('answer:s2:q2', second, { items: [{ stepId: 's2', widgetId: 'q2', answer: ['b'] }] });
  offline.record('answer:s2:gone', second, { items: [{ stepId: 's2', widgetId: 'gone', answer: 1 }] });
  offline.record('variable:level', second, { variableState: { level: 2 } });
  offline.record('completed', third, { completed: true });
  expect(storage.length).toBe(4);

  const online = createRecorder({ ...fields, url, onMerged: (session: unknown) => merged.push(session) });
  await online.send();
  await waitFor('an empty storage', () => storage.length === 0);
  expect(merged).toHaveLength(3);
  expect(await player.read()).toMatchObject({
    status: 'completed',
    score: 2,
    variableState: { level: 2 },
    ...third,
  });
});
