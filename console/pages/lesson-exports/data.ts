import type { ExportStatus, Routes } from '../../api-types.ts';
import { useData } from '../../shell/data.ts';
import { query } from '../../shell/router.tsx';
import { useVersions } from '../lesson/data.ts';
import type { Version } from '../lesson/data.ts';

export type ExportQuery = Routes['GET /api/lessons/{lessonId}/versions/{versionId}/export-zip']['query'];

/** The archives that a version can be exported as. */
export const profiles = [
  { id: 'plain', query: {} },
  { id: 'player', query: { include: 'player' } },
  { id: 'scorm12', query: { format: 'scorm12' } },
  { id: 'scorm2004', query: { format: 'scorm2004' } },
  { id: 'cmi5', query: { format: 'cmi5' } },
  { id: 'cartridge', query: { format: 'cartridge' } },
] as const satisfies { id: string; query: ExportQuery }[];

export type Preset = NonNullable<ExportQuery['preset']>;
export const presets: readonly Preset[] = [
  'moodle',
  'canvas',
  'blackboard',
  'brightspace',
  'sap',
  'openedx',
  'cornerstone',
];

/** One archive of a version. */
export interface Export {
  id: (typeof profiles)[number]['id'];
  query: ExportQuery;
  status: ExportStatus | undefined;
  reload: () => Promise<void>;
}

const pollMs = 1_500;

/** Returns whether an export changes by itself. */
export function isUnderWay(status: ExportStatus | undefined): boolean {
  return status?.status === 'queued' || status?.status === 'building';
}

/** Returns the published versions, and the one that the URL asks for, by default the latest. */
export function usePublishedVersions(lessonId: string) {
  const versions = useVersions(lessonId);
  const published = versions.data?.versions.filter(({ status }) => status === 'published');
  const chosen = published?.find(({ id }) => id === query.value.version) ?? published?.[0];
  return { ...versions, published, chosen };
}

/** The archives of a version, with their state. Those that are built are followed. */
export function useExports(lessonId: string, version: Version | undefined): Export[] {
  const preset = presets.find((name) => name === query.value.preset);
  // The profiles are constant, so the hooks are called in the same order each time.
  return profiles.map((profile) => {
    const own: ExportQuery = {
      ...profile.query,
      ...('format' in profile.query && preset !== undefined && { preset }),
    };
    const { data, reload } = useExportStatus(lessonId, version?.id, own);
    return { id: profile.id, query: own, status: data, reload };
  });
}

function useExportStatus(lessonId: string, versionId: string | undefined, own: ExportQuery) {
  const route =
    versionId === undefined ? null : 'GET /api/lessons/{lessonId}/versions/{versionId}/export-status';
  return useData(
    route,
    { params: { lessonId, versionId: versionId ?? '' }, query: own },
    { everyMs: (status) => (isUnderWay(status) ? pollMs : 0) },
  );
}
