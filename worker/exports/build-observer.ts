/** A phase of a build. `files`, the lookups and downloads, overlaps with `write`. */
export type BuildPhase = 'plan' | 'files' | 'write' | 'publish';

/** Whether an external file was in the cache and still valid. */
export type MediaLookup = 'hit' | 'miss';

/** Receives the durations of a build, for metrics. */
export interface BuildObserver {
  phase(phase: BuildPhase, seconds: number): void;
  lookedUp(result: MediaLookup): void;
  evicted(evicted: { files: number; bytes: number }): void;
}

/** Starts to measure a phase; returns a function that ends it. */
export function timePhase(observer: BuildObserver | undefined, phase: BuildPhase): () => void {
  const started = performance.now();
  return () => observer?.phase(phase, (performance.now() - started) / 1000);
}
