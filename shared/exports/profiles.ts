import { LecternError } from '../platform/errors.ts';

/** The fields that file names and folders are made of. */
interface NamedVersion {
  slug: string;
  versionNumber: number;
}

/** The sources of a profile's variant. */
export interface ProfileSource {
  /** Returns the name of the player's release in this process. */
  playerName: () => string | Promise<string>;
}

const parameterNames = ['include', 'format'] as const;
type ParameterName = (typeof parameterNames)[number];

/** The query parameters that select a profile; the same options select it in `lectern lesson export`. */
export type ProfileQuery = { readonly [name in ParameterName]?: string | undefined };

/**
 * The content and layout of an archive, as far as the API, the workers and the CLI share it. The files
 * themselves come from the profile of the same id in worker/exports/profiles/.
 */
export interface ExportProfile {
  query: ProfileQuery;
  /** What the parameter's value selects: for the API's documentation, and for the command's help. */
  description?: string;
  help?: string;
  /**
   * Returns what decides the archive's bytes besides version and format, such as the player's release, or null.
   * It is part of the export key.
   */
  variant: (source: ProfileSource) => string | null | Promise<string>;
  /** Returns the folder that holds all files of the archive; '' for files at the archive's top level. */
  rootFolder: (version: NamedVersion) => string;
  /** Returns the name under which browsers save the archive. */
  fileName: (version: NamedVersion) => string;
}

const versionName = ({ slug, versionNumber }: NamedVersion) => `${slug}-v${versionNumber}`;

/** The profiles by id. Ids and variants are part of export keys and of queued jobs: they never change. */
export const exportProfiles = {
  plain: {
    query: {},
    variant: () => null,
    rootFolder: versionName,
    fileName: (version) => `${versionName(version)}.zip`,
  },
  player: {
    query: { include: 'player' },
    description: 'the archive also holds the player, and plays when its index.html is opened.',
    help: 'with the player: unpack it, and open index.html',
    variant: ({ playerName }) => playerName(),
    rootFolder: versionName,
    fileName: (version) => `${versionName(version)}.zip`,
  },
} as const satisfies Record<string, ExportProfile>;

export type ProfileId = keyof typeof exportProfiles;

/** The default profile, as jobs name it. */
export const plainProfile = nameProfile('plain', null);

/** The profile of a job: `<id>`, or `<id>:<variant>`. */
export const profileNamePattern = /^[a-z0-9-]+(:.+)?$/s;

const profiles = Object.entries(exportProfiles) as [ProfileId, ExportProfile][];

/** The query parameters that select profiles, with their values and the error for any other value. */
export const profileParameters = parameterNames.flatMap((name) => {
  const selected = profiles.flatMap(([, profile]) => (profile.query[name] === undefined ? [] : profile));
  const values = selected.flatMap(({ query }) => query[name] ?? []);
  if (values.length === 0) return [];
  const quoted = values.map((value) => `"${value}"`).join(' or ');
  const fault = name === 'format' ? 'Unknown export format' : `${name} must be ${quoted} or omitted`;
  const descriptions = selected.map(({ query, description }) => `\`${query[name]}\`: ${description}`);
  return {
    name,
    values,
    fault,
    description: descriptions.join(' '),
    help: selected.map(({ help }) => help).join('; '),
  };
});

/**
 * Returns the profile that a query selects, as jobs name it.
 *
 * @throws {LecternError} BAD_REQUEST when no profile has exactly these parameters.
 */
export async function selectProfile(query: ProfileQuery, source: ProfileSource): Promise<string> {
  const found = profiles.find(([, profile]) =>
    parameterNames.every((name) => profile.query[name] === query[name]),
  );
  if (found === undefined) throw new LecternError('BAD_REQUEST', 'No export has all of these parameters');
  const [id, profile] = found;
  return nameProfile(id, await profile.variant(source));
}

/** Returns the id and variant that a job names; the id is null where this release lacks the profile. */
export function parseProfile(name: string): { id: ProfileId | null; variant: string | null } {
  const separator = name.indexOf(':');
  const id = separator < 0 ? name : name.slice(0, separator);
  const variant = separator < 0 ? null : name.slice(separator + 1);
  return { id: Object.hasOwn(exportProfiles, id) ? (id as ProfileId) : null, variant };
}

/**
 * Returns the profile that a job names.
 *
 * @throws when this release lacks the profile.
 */
export function profileOf({ profile }: { profile: string }): ExportProfile {
  const { id } = parseProfile(profile);
  if (id === null) throw new LecternError('INTERNAL_ERROR', `This release has no export profile ${profile}`);
  return exportProfiles[id];
}

function nameProfile(id: ProfileId, variant: string | null): string {
  return variant === null ? id : `${id}:${variant}`;
}
