import { afterWrite } from './queued-write.ts';
import { enqueue } from './save-queue.ts';
import type { SaveQueue } from './save-queue.ts';
import { newId } from './saver.ts';
import type { Saver, SaverOptions } from './saver.ts';

/** Returns the saver of an unrecorded session: it applies changes to the record in this page, and sends and stores nothing. */
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
    // The learner knows that nothing is recorded, so nothing can be lost.
    isStored: () => true,
    change(change) {
      const [write] = enqueue(queue, change, versionId, { now: client.now(), newId }).writes;
      if (write === undefined) return;
      queue = { ...queue, record: afterWrite(queue.record, write) };
      onChange();
      onSaved(queue.record, write);
    },
    time: nothing,
    draft: nothing,
    dropDrafts: nothing,
    adopt: nothing,
    catchUp: nothing,
    handOver: nothing,
    continueHere: nothing,
    renewed: nothing,
    skipWait: nothing,
    flush: nothing,
  };
}
