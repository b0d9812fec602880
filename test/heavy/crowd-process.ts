import { Agent, request } from 'node:http';

/** A crowd of clients: each sends one of the requests as soon as its previous one has a response. */
export interface Crowd {
  address: string;
  connections: number;
  requests: CrowdRequest[];
}

interface CrowdRequest {
  method: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string;
  /** Whether its Content-Length exceeds the sent body by one byte. */
  isIncomplete?: boolean;
}

/** The number of responses by status; this process returns it at the message "stop". */
export type CrowdAnswers = Record<string, number>;

/* The clients, in a separate process, so that their work does not count for the API. Responses are discarded. */
const answers: CrowdAnswers = {};
process.on('message', (message: Crowd | 'stop') => {
  if (message === 'stop') {
    process.send?.(answers);
    return;
  }
  const { address, connections, requests } = message;
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const ask = (index: number): void => {
    const chosen = requests[index % requests.length];
    if (chosen === undefined) return;
    const { method, path, body, isIncomplete = false } = chosen;
    const headers = { 'accept-encoding': 'gzip, br', ...chosen.headers };
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const length = isIncomplete ? { 'content-length': Buffer.byteLength(body ?? '') + 1 } : {};
    const sent = request(`${address}${path}`, { method, agent, headers: { ...headers, ...type, ...length } });
    sent.on('response', (response) => {
      const status = String(response.statusCode);
      answers[status] = (answers[status] ?? 0) + 1;
      response.resume();
      response.once('end', () => {
        if (isIncomplete) sent.destroy();
        ask(index + connections);
      });
    });
    let isAnswered = false;
    sent.once('response', () => (isAnswered = true));
    sent.on('error', () => {
      if (isAnswered) return;
      answers.failed = (answers.failed ?? 0) + 1;
      setTimeout(() => ask(index + connections), 100);
    });
    if (isIncomplete) sent.write(body);
    else sent.end(body);
  };
  for (let index = 0; index < connections; index += 1) ask(index);
});
process.on('disconnect', () => process.exit());
