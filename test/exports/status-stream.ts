import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { onTestFinished } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { statusPath } from '../support/factories.ts';

/**
 * Requests the status of an export as an event stream that closes after the test; returns the
 * response at its start.
 */
export async function openStatusStream(
  api: string,
  version: LessonVersion,
  headers: object,
): Promise<IncomingMessage> {
  const asked = { ...headers, accept: 'text/event-stream' };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(api + statusPath(version), { headers: asked }, resolve).on('error', reject);
  });
  onTestFinished(() => void response.destroy());
  return response;
}
