import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';
import { useStarted } from '../support/use.ts';

/** The library has the shape of a module that a compiler made, which test runners and Node.js import differently. */
const validation = createRequire(import.meta.url)('@learninglocker/xapi-validation') as {
  default: (statement: unknown) => unknown[];
};

/** A statement, as far as tests look at it. */
export interface ReceivedStatement {
  id: string;
  actor: { account: { homePage: string; name: string } };
  verb: { display: { en: string } };
  [field: string]: unknown;
}

/** A learning record store: takes batches of statements as a whole or not at all, like a real one. */
export interface Lrs {
  url: string;
  password: string;
  statements: Map<string, ReceivedStatement>;
  /** The ids that arrived more than once. */
  repeated: string[];
  /** The xAPI versions of the requests. */
  versions: Set<string>;
  reject: (statement: ReceivedStatement) => boolean;
  /** The status of rejections. */
  rejection: number;
  /** What another server at the URL returns; null for the LRS. */
  impostor: ((response: ServerResponse) => void) | null;
  /** Whether the user may read statements. */
  mayRead: boolean;
  /** Returns the ids of statements. */
  answer: (response: ServerResponse, ids: string[]) => void;
  faults(): string[];
  reset(): void;
  close(): Promise<void>;
}

export function useLrs(): Lrs {
  return useStarted(startLrs, (lrs) => lrs.close());
}

function answerWithIds(response: ServerResponse, ids: string[]): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(ids));
}

async function startLrs(): Promise<Lrs> {
  const password = 'the password of the test LRS';
  const lrs: Omit<Lrs, 'url' | 'close'> = {
    password,
    statements: new Map(),
    repeated: [],
    versions: new Set(),
    reject: () => false,
    rejection: 400,
    impostor: null,
    mayRead: true,
    answer: answerWithIds,
    faults: () =>
      [...lrs.statements.values()].flatMap((statement) =>
        validation
          .default(statement)
          .map((fault) => `${statement.verb.display.en}: ${JSON.stringify(fault)}`),
      ),
    reset() {
      lrs.statements.clear();
      lrs.repeated.length = 0;
      lrs.versions.clear();
      lrs.reject = () => false;
      lrs.rejection = 400;
      lrs.impostor = null;
      lrs.mayRead = true;
      lrs.answer = answerWithIds;
    },
  };
  const server = createServer((request, response) => {
    receive(lrs, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(lrs, {
    url: `http://127.0.0.1:${port}/xapi`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

async function receive(
  lrs: Omit<Lrs, 'url' | 'close'>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  if (lrs.impostor !== null) return lrs.impostor(response);
  const authorization = `Basic ${Buffer.from(`lectern:${lrs.password}`).toString('base64')}`;
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
  if (pathname !== '/xapi/statements') return void response.writeHead(404).end();
  if (request.headers.authorization !== authorization) return void response.writeHead(401).end();
  lrs.versions.add(String(request.headers['x-experience-api-version']));
  if (request.method === 'GET') {
    if (!lrs.mayRead) return void response.writeHead(403).end();
    const since = Date.parse(searchParams.get('since') ?? '');
    const statements = [...lrs.statements.values()].filter(
      ({ stored }) => Date.parse(String(stored)) > since,
    );
    return void response.end(JSON.stringify({ statements, more: '' }));
  }
  const statements = JSON.parse(Buffer.concat(chunks).toString()) as ReceivedStatement[];
  if (statements.some(lrs.reject)) return void response.writeHead(lrs.rejection).end('a bad statement');
  for (const statement of statements) {
    if (lrs.statements.has(statement.id)) lrs.repeated.push(statement.id);
    lrs.statements.set(statement.id, statement);
  }
  lrs.answer(
    response,
    statements.map(({ id }) => id),
  );
}
