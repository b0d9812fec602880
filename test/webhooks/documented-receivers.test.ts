import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../shared/embedded/child-process.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { Player, useLesson } from '../player/player-lessons.ts';
import { ask } from '../support/answers.ts';
import { buildLearnerToken } from '../support/factories.ts';
import { useApi } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { Webhooks } from './webhooks-client.ts';
import { temporaryFolder } from '../support/folders.ts';

/* The receivers of docs/webhooks.md, as they are printed there. */

const api = useApi({}, { worker: true });
const version = useLesson(api);

test.each([
  ['js', 'receiver.mjs', process.execPath],
  ['python', 'receiver.py', 'python3'],
])('the receiver in %s takes genuine events once, and no forged ones', async (language, name, program) => {
  const page = await readFile(join(packageRoot, 'docs/webhooks.md'), 'utf8');
  const [, code = ''] = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(page) ?? [];
  const path = join(await temporaryFolder(), name);
  await writeFile(path, code);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const webhooks = new Webhooks(api);
  const { id, secret } = await webhooks.create(url, ['progress.started']);
  const child = spawn(program, [path], {
    env: { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  let printed = '';
  child.stdout.on('data', (text: Buffer) => (printed += text.toString()));
  const forge = () => ask(url, { method: 'POST', body: '{"type":"ping","data":{}}' });
  await waitFor('the receiver', async () => (await forge()).status === 401);

  await new Player(api.url, version, buildLearnerToken(version, { learnerId: language })).write({
    currentStepIndex: 0,
    progressData: {},
  });
  await waitFor('the event', () => printed.includes('progress.started '));
  const [delivery] = await waitFor('the delivery', async () => {
    const found = await webhooks.deliveries(id, '?status=delivered');
    return found.length > 0 ? found : null;
  });
  await webhooks.expect(202, 'POST', `/${id}/deliveries/${delivery?.id ?? ''}/resend`);
  await waitFor('the second attempt', async () =>
    (await webhooks.deliveries(id, '?status=delivered')).some(({ attempts }) => attempts.length === 2),
  );
  expect(printed.match(/^progress\.started /gm)).toHaveLength(1);
  await webhooks.expect(204, 'DELETE', `/${id}`);
});
