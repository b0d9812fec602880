import type { ChunkStep } from '../../shared/lessons/lesson-skeleton.ts';
import type { LessonBoot } from './boot.ts';
import { abortAfter } from '../older-browsers.ts';

const timeoutMs = 20_000;

/** The reason why a chunk was not loaded. `gone`: the lesson is no longer available, so a retry is pointless. */
export type ChunkFault = 'failed' | 'gone';

/**
 * Returns a function that loads a chunk of the lesson. Concurrent calls for a chunk share one request.
 *
 * @param chunksUrl returns the latest URL, because each expires soon
 */
export function chunkLoader(
  { chunks, sections }: Pick<LessonBoot['lesson'], 'chunks' | 'sections'>,
  chunksUrl: () => string,
): (index: number) => Promise<ChunkStep[] | ChunkFault> {
  const loading = new Map<number, Promise<ChunkStep[] | ChunkFault>>();
  const failed = new Set<number>();
  const stepIds = sections.flatMap(({ steps }) => steps.map(({ id }) => id));

  /** Returns whether a response has the steps of a chunk; the page of a captive portal does not. */
  function isChunk(value: unknown, index: number): value is ChunkStep[] {
    const first = chunks.slice(0, index).reduce((sum, { steps }) => sum + steps, 0);
    const ids = stepIds.slice(first, first + (chunks[index]?.steps ?? 0));
    const steps = Array.isArray(value) ? (value as Partial<ChunkStep | null>[]) : [];
    return steps.length === ids.length && steps.every((step, position) => step?.id === ids[position]);
  }

  async function load(index: number): Promise<ChunkStep[] | ChunkFault> {
    const id = chunks[index]?.id;
    if (id === undefined) return 'gone';
    try {
      const response = await fetch(`${chunksUrl()}${id}`, {
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        // The cache may hold the failed response: the login page of a network, or half a chunk.
        cache: failed.has(index) ? 'reload' : 'default',
        signal: abortAfter(timeoutMs),
      });
      const body: unknown = await response.json();
      if (response.ok) return isChunk(body, index) ? body : 'failed';
      // 403: the URL expired while the device slept, and the page is renewing it.
      return response.status === 404 && isError(body) ? 'gone' : 'failed';
    } catch {
      return 'failed';
    }
  }

  return (index) => {
    const running =
      loading.get(index) ??
      load(index).then((result) => {
        loading.delete(index);
        if (typeof result === 'string') failed.add(index);
        else failed.delete(index);
        return result;
      });
    loading.set(index, running);
    return running;
  };
}

/** Returns whether a body is an error from Lectern and not from an intermediary. */
function isError(body: unknown): boolean {
  return typeof (body as { error?: unknown } | null)?.error === 'string';
}
