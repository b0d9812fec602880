import { chunkOfStep } from '../../shared/lessons/lesson-skeleton.ts';
import type { ChunkStep, LessonSkeleton } from '../../shared/lessons/lesson-skeleton.ts';
import { outlineOf } from '../../shared/progress/outline.ts';
import type { OutlineWidget } from '../../shared/progress/outline.ts';
import { readStepContent } from './read-lesson.ts';
import type { PlayedStep, StepContent } from './read-lesson.ts';

/** The maximum number of chunks in memory. The browser's cache has the others. */
const maxChunks = 6;

/** The lesson is no longer available, so a retry cannot load the step. */
export class StepGone extends Error {
  override readonly name = 'StepGone';
}

/** A step with its content. */
interface LoadedStep {
  content: StepContent;
  /** Returns its widgets. The first call reads them, because reading those of a whole chunk takes milliseconds. */
  widgets(this: void): readonly OutlineWidget[];
}

/** Stands in for a step that its chunk lacks. */
const emptyStep: LoadedStep = { content: { content: [], root: {} }, widgets: () => [] };

/** The steps of a lesson that is played from its skeleton. */
export interface StepSource {
  /** Returns a step; undefined while its chunk is not in memory. */
  find(step: Pick<PlayedStep, 'id' | 'index'>): LoadedStep | undefined;
  /** Loads the chunk of a step, unless it is in memory. Rejects if that fails: with {@link StepGone} if no retry can succeed. */
  load(index: number): Promise<void>;
}

/** A {@link StepSource} that gets its chunks from elsewhere. */
export interface ChunkedSteps extends StepSource {
  /** Adds a chunk; its steps were requested, or are the first ones. */
  receive(chunk: number, steps: readonly ChunkStep[]): void;
  fail(chunk: number, isGone: boolean): void;
}

interface Waiting {
  promise: Promise<void>;
  resolve(): void;
  reject(error: Error): void;
}

/** @param request requests a chunk: `receive` or `fail` follows. */
export function chunkedSteps(
  { lesson, chunks, ownTypes }: Pick<LessonSkeleton, 'lesson' | 'chunks' | 'ownTypes'>,
  request: (chunk: number) => void,
): ChunkedSteps {
  /** The chunks in memory, the least recently used one first. */
  const loaded = new Map<number, ReadonlyMap<string, LoadedStep>>();
  const waiting = new Map<number, Waiting>();

  function read({ id, content: given }: ChunkStep): [string, LoadedStep] {
    const content = readStepContent(given);
    let widgets: readonly OutlineWidget[] | undefined;
    return [id, { content, widgets: () => (widgets ??= widgetsOf(id, content)) }];
  }

  function widgetsOf(id: string, content: StepContent): readonly OutlineWidget[] {
    const step = { id, title: '', order_index: 0, content };
    const section = { id: '', title: '', order_index: 0, steps: [step] };
    const meta = { ...lesson, slug: '', status: '' };
    const whole = { lesson: meta, sections: [section], totalSections: 1, totalSteps: 1 };
    const [{ steps } = { steps: [] }] = outlineOf(whole, ownTypes).sections;
    return steps[0]?.widgets ?? [];
  }

  function settle(chunk: number): Waiting | undefined {
    const settled = waiting.get(chunk);
    waiting.delete(chunk);
    return settled;
  }

  return {
    find({ id, index }) {
      const chunk = chunkOfStep(chunks, index) ?? -1;
      const steps = loaded.get(chunk);
      if (steps === undefined) return undefined;
      loaded.delete(chunk);
      loaded.set(chunk, steps);
      return steps.get(id) ?? emptyStep;
    },
    load(index) {
      const chunk = chunkOfStep(chunks, index);
      if (chunk === undefined || loaded.has(chunk)) return Promise.resolve();
      const known = waiting.get(chunk);
      if (known !== undefined) return known.promise;
      const added = newWaiting();
      waiting.set(chunk, added);
      request(chunk);
      return added.promise;
    },
    receive(chunk, steps) {
      loaded.set(chunk, new Map(steps.map(read)));
      const [oldest] = loaded.keys();
      if (loaded.size > maxChunks && oldest !== undefined) loaded.delete(oldest);
      settle(chunk)?.resolve();
    },
    fail(chunk, isGone) {
      const message = `Chunk ${chunk} of the lesson was not loaded`;
      settle(chunk)?.reject(isGone ? new StepGone(message) : new Error(message));
    },
  };
}

function newWaiting(): Waiting {
  let resolve: Waiting['resolve'] = () => undefined;
  let reject: Waiting['reject'] = () => undefined;
  const promise = new Promise<void>((onLoad, onFailure) => {
    resolve = onLoad;
    reject = onFailure;
  });
  return { promise, resolve, reject };
}
