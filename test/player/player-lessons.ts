import { expect } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { buildPackage, buildVersion } from '../support/factories.ts';
import type { Harness } from '../support/harness.ts';
import { useStarted } from '../support/use.ts';
import type { Api } from '../support/use.ts';
import { ask, jsonOf } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';

export const heading = (id = 'heading') => ({ type: 'Heading', props: { id, text: 'A heading', level: 2 } });

/** A question whose right choice is `b`. */
export const question = (id: string, points = 1) => ({
  type: 'MultipleChoice',
  props: {
    id,
    question: '?',
    choices: ['a', 'b'].map((choice) => ({ id: choice, html: choice })),
    correct: ['b'],
    points,
  },
});

export const step = (id: string, ...blocks: object[]) => ({
  id,
  title: `Title of ${id}`,
  order_index: 0,
  content: { content: blocks, root: { props: {} } },
});

export const section = (id: string, ...steps: object[]) => ({
  id,
  title: `Title of ${id}`,
  order_index: 0,
  steps,
});

/**
 * Two sections with the steps s1, s2 and s3; core questions worth 3 points in all, and a custom
 * widget.
 */
export const playedSections = () => [
  section('one', step('s1', heading()), step('s2', question('q2', 2))),
  section('two', step('s3', question('q3'), { type: 'Dial', props: { id: 'dial' } })),
];

/** Publishes a version of a new lesson or, with `lessonId`, the next version of an existing one. */
export async function publishLesson(
  harness: Pick<Harness, 'db' | 'store' | 'config'>,
  organization: Organization,
  { publish = true, ...content }: Parameters<typeof buildPackage>[0] & { publish?: boolean } = {},
): Promise<LessonVersion> {
  const { path } = await buildPackage({ sections: playedSections(), ...content });
  return buildVersion(harness, organization, path, { publish });
}

/** Publishes a lesson that the tests of a file share. */
export function useLesson(api: Api, content: Parameters<typeof publishLesson>[2] = {}): LessonVersion {
  return useStarted(() => publishLesson(api, api.organization, content));
}

export type Session = Record<string, unknown> & { attempt: number; status: string };

/** A learner's player: reads and writes the session that a token authorizes. */
export class Player {
  readonly #url: string;
  readonly #versionId: string;

  constructor(address: string, version: Pick<LessonVersion, 'lessonId' | '_id'>, token: string) {
    this.#url = `${address}/api/public/lessons/${version.lessonId}/session?token=${token}`;
    this.#versionId = version._id;
  }

  ask(): Promise<Answer> {
    return ask(this.#url);
  }

  /** Sends a body unchanged. */
  send(body: string): Promise<Answer> {
    return ask(this.#url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  }

  /** Returns the session; asserts 200. */
  async read(): Promise<Session> {
    return sessionOf(await this.ask());
  }

  /** Sends a write, by default of the first step. */
  tell(fields: object = {}): Promise<Answer> {
    const place = { currentSectionIndex: 0, currentStepIndex: 0 };
    return this.send(JSON.stringify({ versionId: this.#versionId, ...place, ...fields }));
  }

  /** Like `tell`; asserts 200. */
  async write(fields: object = {}): Promise<Session> {
    return sessionOf(await this.tell(fields));
  }
}

export function sessionOf(answer: Answer): Session {
  const session = jsonOf(answer) as Session;
  expect({ status: answer.status, session }).toEqual({ status: 200, session });
  return session;
}

/** Returns the source text of a member's value in a body, up to the name of the next one. */
export function rawMember(answer: Answer, name: string, next: string): string {
  const text = answer.body.toString('utf8');
  const start = text.indexOf(`"${name}":`) + name.length + 3;
  return text.slice(start, text.indexOf(`,"${next}":`, start));
}
