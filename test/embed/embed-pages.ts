import { expect } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { buildLearnerToken } from '../support/factories.ts';
import type { Answer } from '../support/answers.ts';

/** The URL where a learner's frame opens a lesson. */
export function embedPath(
  version: Pick<LessonVersion, 'organizationId' | 'lessonId'>,
  token = buildLearnerToken(version),
): string {
  return `/embed/${version.lessonId}?token=${token}`;
}

/** The data that a page's script starts with, and the steps in the page of a lesson. */
export function bootOf(answer: Answer): Record<string, unknown> {
  const [boot = {}, steps] = ['boot', 'steps'].map((name) => dataIn(answer.body.toString(), name));
  return { ...boot, ...(steps && { steps }) };
}

function dataIn(page: string, name: string): object | undefined {
  const pattern = new RegExp(`<script type="application/json" id="lectern-${name}">(.*?)</script>`, 's');
  const [, json] = pattern.exec(page) ?? [];
  return json === undefined ? undefined : (JSON.parse(json) as object);
}

/** Returns the directives of a page's Content-Security-Policy by name. */
export function policyOf({ headers }: Answer): Record<string, string> {
  const directives = (headers.get('content-security-policy') ?? '').split('; ');
  return Object.fromEntries(
    directives.map((directive) => {
      const [name = '', ...values] = directive.split(' ');
      return [name, values.join(' ')];
    }),
  );
}

/** Returns the visible text without tags. */
export function textOf(answer: Answer): string {
  const [, main = ''] = /<main[^>]*>(.*?)<\/main>/s.exec(answer.body.toString()) ?? [];
  return main
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/**
 * Checks that a page's text has the error code and the request id, each after a label in the
 * page's language.
 */
export function expectSupportLine(text: string, code: string, requestId: string | null): void {
  expect(text).toMatch(new RegExp(`\\S ?: ${code} \\S[^:]*: ${requestId}`));
}

/** Checks that a response is the error page for a code, and contains no secret. */
export function expectFailurePage(answer: Answer, status: number, code: string, token?: string): void {
  expect({ status: answer.status, type: answer.headers.get('content-type') }).toEqual({
    status,
    type: 'text/html; charset=utf-8',
  });
  expect(bootOf(answer)).toMatchObject({ page: 'failure', code, allowedOrigins: null });
  expectSupportLine(textOf(answer), code, answer.headers.get('x-request-id'));
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
  if (token !== undefined) expect(answer.body.toString()).not.toContain(token.split('.')[2]);
}
