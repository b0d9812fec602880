import type { DriveOptions } from '../../../simulator/drive-launch.ts';
import { expect } from 'vitest';
import { ask } from '../../support/answers.ts';
import type { Answer } from '../../support/answers.ts';
import type { LaunchLab } from './launch-lab.ts';

/** The deep linking settings that a platform may send. */
export type SelectionSettings = Partial<DriveOptions> & { settings?: Readonly<Record<string, unknown>> };

/** Launches lesson selection as a teacher and returns the URL of its page. */
export async function beginSelection(lab: LaunchLab, options: SelectionSettings = {}): Promise<string> {
  const answer = await requestSelection(lab, options);
  expect({ status: answer.status, text: answer.text }).toEqual({ status: 303, text: '' });
  return answer.headers.get('location') ?? '';
}

/** Like above, but with any outcome. */
export function requestSelection(lab: LaunchLab, { settings, ...options }: SelectionSettings = {}) {
  const { course, users } = lab.simulator.sample;
  const deepLink = { course, tool: lab.tool, ...(settings && { settings }) };
  return lab.launch({ user: users.teacher, deepLink, ...options });
}

/** Submits the form of the page as its button does. */
export function sendSelection(url: string, fields: Record<string, string> = {}): Promise<Answer> {
  const body = new URLSearchParams({ action: 'choose', ...fields });
  return ask(url, { method: 'POST', body });
}

/** The form that carries a response to the platform. */
export function formOf({ body }: Answer): { action: string; jwt: string } {
  const [, action = '', jwt = ''] =
    /method="post" action="([^"]*)">\s*<input type="hidden" name="JWT" value="([^"]*)"/.exec(
      body.toString(),
    ) ?? [];
  return { action, jwt };
}

/** Submits a response to the platform as a browser does; returns the platform's status. */
export async function deliver(answer: Answer): Promise<number> {
  expect(answer.status).toBe(200);
  const { action, jwt } = formOf(answer);
  return (await ask(action, { method: 'POST', body: new URLSearchParams({ JWT: jwt }) })).status;
}

/** Returns the titles of the lessons that a page offers, in order. */
export function titlesIn({ body }: Answer): string[] {
  return [...body.toString().matchAll(/<b id="title-[^"]*"><bdi>([^<]*)</g)].map(([, title = '']) => title);
}
