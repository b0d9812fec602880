import { orToast, toast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { t } from '../../shell/text.ts';

/** How many exports one request changes at most. */
const maxIds = 100;

/** Builds exports again, or cancels them. */
export function changeExports(name: 'retry' | 'cancel', ids: readonly string[]): Promise<boolean> {
  return orToast(async () => {
    let count = 0;
    for (let start = 0; start < ids.length; start += maxIds) {
      const body = { ids: ids.slice(start, start + maxIds) };
      count += (await request(`POST /api/exports/${name}`, { body })).changed;
    }
    toast(name === 'retry' ? t('exports.retried', { count }) : t('exports.canceled', { count }));
  });
}

/** Builds all exports of the last day again that have failed, also those on other pages; each archive once. */
export async function retryAllFailed(): Promise<void> {
  const failed = new Map<string, string>();
  await orToast(async () => {
    let cursor: string | undefined;
    do {
      const query = { status: 'failed', limit: maxIds, cursor } as const;
      const page = await request('GET /api/exports', { query });
      for (const { id } of page.exports) failed.set(archiveOf(id), id);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  });
  if (failed.size > 0) await changeExports('retry', [...failed.values()]);
}

/** Returns what all exports of one archive have in common: an id begins with its key. */
export function archiveOf(id: string): string {
  return id.split('-')[0] ?? id;
}
