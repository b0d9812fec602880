import type { AuditPage, Routes } from '../../api-types.ts';
import { ApiError, urlOf } from '../../shell/api.ts';
import { useData } from '../../shell/data.ts';
import type { Loaded } from '../../shell/data.ts';
import { query } from '../../shell/router.tsx';

const dayMs = 24 * 3600 * 1000;

/** How far back entries are listed. */
export const periods = [
  { value: '', days: 400 },
  { value: 'day', days: 1 },
  { value: 'week', days: 7 },
  { value: 'month', days: 30 },
] as const;

/** When the page was opened: with the time of each request, no response would be found in the cache. */
const openedMs = Date.now();

function auditQuery(): Routes['GET /api/audit']['query'] {
  const { action, actorId, period } = query.value;
  const { days } = periods.find(({ value }) => value === period) ?? periods[0];
  return {
    since: new Date(openedMs - days * dayMs).toISOString(),
    ...(action !== undefined && { action }),
    ...(actorId !== undefined && { actorId }),
  };
}

/** Loads a page of entries, the newest first. */
export function useAudit(): Loaded<AuditPage> {
  const { cursor } = query.value;
  return useData('GET /api/audit', { query: { ...auditQuery(), order: 'newest', cursor } });
}

/** Downloads all entries that the filters select, the oldest first, one line of JSON each. */
export async function downloadAudit(): Promise<void> {
  const response = await fetch(urlOf('GET /api/audit', { query: auditQuery() }), {
    headers: { Accept: 'application/x-ndjson' },
  });
  if (!response.ok) throw new ApiError(`${response.status} ${response.statusText}`, response.status, '');
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = 'audit.ndjson';
  link.click();
  URL.revokeObjectURL(link.href);
}
