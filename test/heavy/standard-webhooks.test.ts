import { expect, onTestFinished, test } from 'vitest';
import { useApi } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { useReceiver } from '../webhooks/receiver.ts';
import { Webhooks } from '../webhooks/webhooks-client.ts';
import { hasPython, installFromPyPI, run } from './python-environment.ts';

const release = 'standardwebhooks==1.1.0';

/** Prints for each case of its argument what the library says. */
const verifyScript = `
import json, sys
from standardwebhooks.webhooks import Webhook
for case in json.loads(sys.argv[1]):
    try:
        print("genuine", Webhook(case["secret"]).verify(case["body"], case["headers"])["type"])
    except Exception as error:
        print(type(error).__name__, error)
`;

const receiver = useReceiver();
const api = useApi({}, { worker: true });

test.skipIf(!(await hasPython()))(
  'standardwebhooks of PyPI verifies deliveries with either secret during a rotation, and rejects forged ones',
  async () => {
    const python = await installFromPyPI(release);
    onTestFinished(() => python.remove());
    const webhooks = new Webhooks(api);
    const { id, secret } = await webhooks.create(receiver.url(), ['progress.started']);
    const rotated = (await webhooks.expect(200, 'POST', `/${id}/rotate`)) as { secret: string };
    await webhooks.expect(202, 'POST', `/${id}/test`);
    const { text: body, headers } = await waitFor('the ping', () => receiver.of('ping')[0]);
    const seconds = Math.floor(Date.now() / 1000);
    const at = (offset: number) => ({ ...headers, 'webhook-timestamp': String(seconds + offset) });
    const cases = [
      { secret, body, headers },
      { secret: rotated.secret, body, headers },
      { secret, body: body.replace('ping', 'pong'), headers },
      { secret, body, headers: { ...headers, 'webhook-id': 'evt_another' } },
      { secret, body, headers: at(-3600) },
      { secret, body, headers: at(3600) },
      { secret: `whsec_${'A'.repeat(43)}=`, body, headers },
    ];
    const { stdout } = await run(python.program('python'), ['-c', verifyScript, JSON.stringify(cases)]);
    expect(stdout.trim().split('\n')).toEqual([
      ...['genuine ping', 'genuine ping'],
      ...Array<string>(2).fill('WebhookVerificationError No matching signature found'),
      'WebhookVerificationError Message timestamp too old',
      'WebhookVerificationError Message timestamp too new',
      'WebhookVerificationError No matching signature found',
    ]);
  },
);
