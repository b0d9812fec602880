import type { Behaviour } from '../support/origin.ts';

/** A file that the origin stops in the middle of, until it is told to go on. */
export interface HeldFile {
  behaviour: Behaviour;
  /** Resolves when half of the file is on its way. */
  reached: Promise<void>;
  /** Lets the rest follow, now and for whoever asks later. */
  release(): void;
}

/** Holds a file back, so that whatever downloads it is in the midst of its work for as long as a test wants. */
export function holdFile(bytes: Uint8Array): HeldFile {
  let reach = () => {};
  let release = () => {};
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  const half = Math.floor(bytes.length / 2);
  return {
    reached,
    release: () => release(),
    async behaviour(_request, response) {
      response.writeHead(200, { 'content-length': bytes.length });
      response.write(bytes.subarray(0, half), reach);
      await released;
      response.end(bytes.subarray(half));
    },
  };
}
