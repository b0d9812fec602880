import type { Behavior } from '../support/origin.ts';

/** A file that the origin pauses in the middle until the test releases it. */
export interface HeldFile {
  behavior: Behavior;
  /** Resolves when half of the file has been sent. */
  reached: Promise<void>;
  /** Sends the rest, now and for later requests. */
  release(): void;
}

/** Pauses a file, so that its downloads stay in progress for as long as a test needs. */
export function holdFile(bytes: Uint8Array): HeldFile {
  let reach = () => {};
  let release = () => {};
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  const half = Math.floor(bytes.length / 2);
  return {
    reached,
    release: () => release(),
    async behavior(_request, response) {
      response.writeHead(200, { 'content-length': bytes.length });
      response.write(bytes.subarray(0, half), reach);
      await released;
      response.end(bytes.subarray(half));
    },
  };
}
