import { Agent, get } from 'node:http';
import type { Load } from '../api/load.ts';

/** Responses with 200 per second, and other responses. */
export interface Throughput {
  perSecond: number;
  failures: number;
}

/*
 * The clients of large responses, in a separate process. autocannon parses responses in JavaScript, and receives fewer
 * than a server can send.
 */
process.on('message', (load: Load) => void run(load).then((answer) => process.send?.(answer)));
process.on('disconnect', () => process.exit());

async function run({ url, requests, connections, seconds }: Load): Promise<Throughput> {
  const agent = new Agent({ keepAlive: true });
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  const result = { received: 0, failures: 0 };
  let next = 0;
  const client = async () => {
    while (performance.now() < endsAt) {
      const { path = '', headers } = requests[next++ % requests.length] ?? {};
      const status = await receive(`${url}${path}`, { agent, headers });
      if (status === 200) result.received += 1;
      else result.failures += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  agent.destroy();
  return { perSecond: (result.received * 1000) / (performance.now() - startedAt), failures: result.failures };
}

/** Receives a response and discards it. Returns its status; undefined without one. */
function receive(url: string, options: object): Promise<number | undefined> {
  return new Promise((resolve) => {
    get(url, options, (response) => {
      response.resume().once('close', () => resolve(response.statusCode));
    }).once('error', () => resolve(undefined));
  });
}
