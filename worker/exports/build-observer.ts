/** A part of a build's work. Files are found and downloaded while others are written already. */
export type BuildPhase = 'plan' | 'files' | 'write' | 'publish';

/** An external medium was in the cache and still good, or had to be downloaded. */
export type MediaLookup = 'hit' | 'miss';

/** Told what a build spends its time on; for metrics. */
export interface BuildObserver {
  phase(phase: BuildPhase, seconds: number): void;
  lookedUp(result: MediaLookup): void;
}

/** Measures one phase: begins now, and is told when it is over. */
export function timePhase(observer: BuildObserver | undefined, phase: BuildPhase): () => void {
  const started = performance.now();
  return () => observer?.phase(phase, (performance.now() - started) / 1000);
}
