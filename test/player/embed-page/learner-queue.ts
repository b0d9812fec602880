import { expect } from 'vitest';
import { parseProgressWrite } from '../../../shared/progress/write.ts';
import { applyWrite, attemptOrder, initialProgress } from '../../../shared/progress/rules.ts';
import { itemsToJson } from '../../../shared/progress/state.ts';
import type { ProgressState } from '../../../shared/progress/state.ts';
import type { WriteBody } from '../../../player/embed-page/queued-write.ts';
import { emptyQueue, enqueue, takeNext, waitMs } from '../../../player/embed-page/save-queue.ts';
import { afterResponse } from '../../../player/embed-page/save-response.ts';
import type { Change, Context, SaveQueue } from '../../../player/embed-page/save-queue.ts';
import type { WriteResponse } from '../../../player/embed-page/save-response.ts';
import type { StepPosition, SessionRecord, StoredAnswer } from '../../../player/embed-page/session-record.ts';
import { buildOutline, buildQuestion, buildWidget, now, versionId } from '../../progress/build-progress.ts';

/** Three steps: nothing to answer, two questions and a custom widget, and one question. */
const outline = buildOutline([
  { intro: [], quiz: [buildQuestion('q1'), buildQuestion('q2'), buildWidget('Dial', 'dial')] },
  { end: [buildQuestion('q1')] },
]);

export const positions = {
  intro: { sectionIndex: 0, stepIndex: 0, stepId: 'intro' },
  quiz: { sectionIndex: 0, stepIndex: 1, stepId: 'quiz' },
  end: { sectionIndex: 1, stepIndex: 0, stepId: 'end' },
} satisfies Record<string, StepPosition>;

export const start = now.getTime();

/** The session endpoint without HTTP: applies its rules to a record in memory. */
export class SessionRules {
  state: ProgressState = initialProgress(versionId, outline, now);
  #writeIds: string[] = [];

  record(): SessionRecord {
    const { revision, attempt, status, score, maxScore, sectionIndex, stepIndex, ...rest } = this.state;
    const { progressData, variableState, items } = rest;
    return {
      revision,
      attempt,
      versionId,
      status,
      score,
      maxScore,
      currentSectionIndex: sectionIndex,
      currentStepIndex: stepIndex,
      progressData: parsed(progressData),
      variableState: parsed(variableState),
      items: items === null ? null : (JSON.parse(itemsToJson(items)) as StoredAnswer[]),
      completedAt: rest.completedAt?.toISOString() ?? null,
      lastActivityAt: rest.lastActivityAt.toISOString(),
    };
  }

  write(body: WriteBody, at: number): WriteResponse {
    const write = parseProgressWrite(JSON.stringify(body));
    if (!this.#writeIds.includes(body.writeId)) {
      const order = attemptOrder(this.state, write);
      if (order === 'earlier') return { kind: 'saved', record: this.record() };
      const isOvertaken = write.after !== undefined && !this.#writeIds.includes(write.after);
      if (order === 'later' || write.revision !== this.state.revision || isOvertaken)
        return { kind: 'conflict', record: this.record() };
      try {
        this.state = applyWrite(this.state, write, outline, new Date(at));
      } catch {
        return { kind: 'rejected' };
      }
      this.#writeIds = [...this.#writeIds, body.writeId].slice(-20);
    }
    return { kind: 'saved', record: this.record() };
  }

  answers(): Record<string, unknown> {
    const items = this.record().items ?? [];
    return Object.fromEntries(items.map(({ stepId, widgetId, answer }) => [`${stepId}/${widgetId}`, answer]));
  }
}

let ids = 0;

/** Returns a new UUID. */
function newId(): string {
  ids += 1;
  return `00000000-0000-4000-8000-${ids.toString(16).padStart(12, '0')}`;
}

export function contextAt(at: number): Context {
  return { now: at, newId };
}

export function newQueue(record: SessionRecord = new SessionRules().record()): SaveQueue {
  return emptyQueue(record);
}

/** Returns the queue after changes at one time. */
export function withChanges(queue: SaveQueue, changes: readonly Change[], at = start): SaveQueue {
  return changes.reduce((next, change) => enqueue(next, change, versionId, contextAt(at)), queue);
}

export function answerOf(
  widgetId: string,
  answer: unknown,
  position: StepPosition = positions.quiz,
): Change & { answer: object } {
  return { position, answer: { widgetId, answer, score: null, maxScore: null } };
}

export function stepTo(position: StepPosition): Change {
  return { position, progressData: { visited: [position.stepId] } };
}

/** Takes the next write, which must exist. */
export function taken(queue: SaveQueue): { queue: SaveQueue; body: WriteBody } {
  const next = takeNext(queue);
  if (next === undefined) throw new Error('There is nothing to send');
  return next;
}

/** Applies the response to the write in flight. */
export const settle = (queue: SaveQueue, response: WriteResponse, at = start, random = 0.5) =>
  afterResponse(queue, response, { ...contextAt(at), random });

/** Sends everything; fails when a write is not saved. */
export function drained(queue: SaveQueue, server: SessionRules, at = start): SaveQueue {
  let next = queue;
  while (waitMs(next, Infinity) !== null) {
    const { queue: sending, body } = taken(next);
    const response = server.write(body, at);
    expect(response.kind).toBe('saved');
    next = settle(sending, response, at).queue;
  }
  return next;
}

function parsed(text: string | null): Record<string, unknown> | null {
  return text === null ? null : (JSON.parse(text) as Record<string, unknown>);
}
