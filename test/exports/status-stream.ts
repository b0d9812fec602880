import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { onTestFinished } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { statusPath } from '../support/factories.ts';

/** Asks for the status of an export as events, until the test is over; gives the answer as soon as it begins. */
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
