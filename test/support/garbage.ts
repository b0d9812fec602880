import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns the memory in use after garbage collection, in bytes. */
export function usedMemory(): NodeJS.MemoryUsage {
  collectGarbage();
  return process.memoryUsage();
}
