import type { VersionChange, VersionChanges } from '../../api-types.ts';
import type { Tone } from '../../kit/parts.tsx';
import { useData } from '../../shell/data.ts';
import type { Loaded } from '../../shell/data.ts';
import { query } from '../../shell/router.tsx';
import { t } from '../../shell/text.ts';
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

/** The colors of changes. */
export const changeTones = {
  added: 'good',
  removed: 'bad',
  moved: 'active',
  changed: 'warn',
  replaced: 'warn',
} as const satisfies Record<string, Tone>;

/** Returns the numbers of changes, such as "3 blocks changed". */
export function changeLines(summary: VersionChanges['summary']): { text: string; tone: Tone }[] {
  const lines: { text: string; tone: Tone }[] = [];
  for (const part of ['sections', 'steps', 'blocks'] as const) {
    for (const change of ['changed', 'added', 'removed', 'moved'] as const) {
      const count = summary[part][change];
      if (count > 0)
        lines.push({ text: t(`changes.${part}_${change}`, { count }), tone: changeTones[change] });
    }
  }
  for (const change of ['added', 'removed', 'replaced'] as const) {
    const count = summary.media[change];
    if (count > 0) lines.push({ text: t(`changes.media_${change}`, { count }), tone: changeTones[change] });
  }
  const { settings } = summary;
  return settings === 0
    ? lines
    : [...lines, { text: t('changes.settings', { count: settings }), tone: 'warn' }];
}
