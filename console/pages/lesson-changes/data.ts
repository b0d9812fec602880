import type { VersionChange, VersionChanges } from '../../api-types.ts';
import { useData } from '../../shell/data.ts';
import type { Loaded } from '../../shell/data.ts';
import { query } from '../../shell/router.tsx';
import type { Version } from '../lesson/data.ts';

/** The versions that the URL names; by default the newest, and the one before it. */
export function chosenVersions(versions: readonly Version[]): { since: Version; until: Version } | undefined {
  const named = (id: string | undefined) => versions.find((version) => version.id === id);
  const until = named(query.value.version) ?? versions[0];
  const since = named(query.value.since) ?? versions.find((version) => version !== until);
  return since && until && { since, until };
}

export function useChanges(
  lessonId: string,
  chosen: { since: Version; until: Version } | undefined,
): Loaded<VersionChanges> {
  const isSame = chosen?.since === chosen?.until;
  return useData(isSame ? null : 'GET /api/lessons/{lessonId}/versions/{versionId}/changes', {
    params: { lessonId, versionId: chosen?.until.id ?? '' },
    query: { since: chosen?.since.id ?? '' },
  });
}

/** The changes of one section or step, after each other. */
export interface ChangeGroup {
  section: VersionChange['section'];
  step: VersionChange['step'];
  changes: VersionChange[];
}

/** Returns the changes in their order, by section and step. */
export function changeGroups(changes: readonly VersionChange[]): ChangeGroup[] {
  const groups: ChangeGroup[] = [];
  for (const change of changes) {
    const { section, step } = change;
    const last = groups.at(-1);
    if (last && last.section?.id === section?.id && last.step?.id === step?.id) last.changes.push(change);
    else groups.push({ section, step, changes: [change] });
  }
  return groups;
}
