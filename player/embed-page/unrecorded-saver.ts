import { afterWrite } from './queued-write.ts';
import { enqueue } from './save-queue.ts';
import type { SaveQueue } from './save-queue.ts';
import { newId } from './saver.ts';
import type { Saver, SaverOptions } from './saver.ts';

/**
 * Of a session that nothing is recorded of: what the learner does is known to this page until it is closed, and goes
 * nowhere else. What is left of saving is that a change is made at once.
 */
export function unrecordedSaver({
  queue: start,
  versionId,
  client,
  onChange,
  onSaved,
}: Pick<SaverOptions, 'queue' | 'versionId' | 'client' | 'onChange' | 'onSaved'>): Saver {
  let queue: SaveQueue = start;
  const nothing = () => undefined;
  return {
    queue: () => queue,
    // There is nothing that could be lost with the page: nobody was promised that it stays.
    isKept: () => true,
    change(change) {
      const [write] = enqueue(queue, change, versionId, { now: client.now(), newId }).writes;
      if (write === undefined) return;
      queue = { ...queue, record: afterWrite(queue.record, write) };
      onChange();
      onSaved(queue.record, write);
    },
    draft: nothing,
    dropDrafts: nothing,
    adopt: nothing,
    catchUp: nothing,
    handOver: nothing,
    goOnHere: nothing,
    renewed: nothing,
    hurry: nothing,
    flush: nothing,
  };
}
