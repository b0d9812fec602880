import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { expect } from 'vitest';
import { ask, jsonOf } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { waitFor } from '../support/wait-for.ts';

/** The part of an API that uploads use. */
export interface Target {
  url: string;
  headers: { authorization: string };
}

export interface ImportStatus {
  id: string;
  status: string;
  upload: { size: number; offset: number };
  report: { lessonId: string; versionId: string; published: boolean; preview: object | null } | null;
  error: { code: string; message: string } | null;
}

const tus = { 'tus-resumable': '1.0.0' };

/** The headers of a request with the first bytes of an upload. */
export const partHeaders = {
  ...tus,
  ...{ 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
};

/** Sends the request that begins an import. @param metadata before encoding. */
export function begin(
  { url, headers }: Target,
  size: number,
  metadata: Record<string, string> = {},
  more: Record<string, string> = {},
): Promise<Answer> {
  const encoded = Object.entries(metadata).map(
    ([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`,
  );
  return ask(`${url}/api/lessons/imports`, {
    method: 'POST',
    headers: {
      ...{ ...headers, ...tus, 'upload-length': String(size) },
      ...(encoded.length > 0 && { 'upload-metadata': encoded.join(',') }),
      ...more,
    },
  });
}

/** Sends bytes of an upload. */
export function send(
  { url, headers }: Target,
  id: string,
  bytes: Uint8Array<ArrayBuffer>,
  offset = 0,
): Promise<Answer> {
  return ask(`${url}/api/lessons/imports/${id}`, {
    method: 'PATCH',
    headers: { ...headers, ...partHeaders, 'upload-offset': String(offset) },
    body: bytes,
  });
}

export function head({ url, headers }: Target, id: string): Promise<Answer> {
  return ask(`${url}/api/lessons/imports/${id}`, { method: 'HEAD', headers: { ...headers, ...tus } });
}

export async function statusOf({ url, headers }: Target, id: string): Promise<ImportStatus> {
  return jsonOf(await ask(`${url}/api/lessons/imports/${id}`, { headers })) as ImportStatus;
}

/** Uploads a file in one request; returns the id of its import. */
export async function upload(
  target: Target,
  path: string,
  metadata: Record<string, string> = {},
): Promise<string> {
  const bytes = new Uint8Array(await readFile(path));
  const begun = await begin(target, bytes.length, metadata);
  expect(begun.status).toBe(201);
  const { id } = jsonOf(begun) as ImportStatus;
  expect((await send(target, id, bytes)).status).toBe(204);
  return id;
}

/** Waits for the end of an import. */
export function ended(target: Target, id: string): Promise<ImportStatus> {
  return waitFor('the end of the import', async () => {
    const status = await statusOf(target, id);
    return ['imported', 'failed', 'canceled'].includes(status.status) ? status : null;
  });
}

/** Uploads a file with a client of the tus protocol, which resumes after breaks; returns the id of its import. */
export async function uploadWithClient({ url, headers }: Target, path: string): Promise<string> {
  const client = await import('tus-js-client');
  return new Promise<string>((resolve, reject) => {
    const running = new client.Upload(createReadStream(path), {
      endpoint: `${url}/api/lessons/imports`,
      headers,
      metadata: { filename: basename(path) },
      retryDelays: Array.from({ length: 20 }, () => 50),
      onError: reject,
      onSuccess: () => resolve(basename(running.url ?? '')),
    });
    running.start();
  });
}
