import { createHash } from 'node:crypto';
import { LecternError } from '../platform/errors.ts';
import { canonicalQuery, packageParameters } from './package-query.ts';
import type { PackageQuery } from './package-query.ts';

/** The fields that file names and folders are made of. */
interface NamedVersion {
  slug: string;
  versionNumber: number;
}

/** The sources of a profile's variant. */
export interface ProfileSource {
  /** Returns the name of the player's release in this process. */
  playerName: () => string | Promise<string>;
  /** Returns the public URL of Lectern, without a slash at the end. */
  publicUrl: () => string;
}

const parameterNames = ['include', 'format'] as const;
type ParameterName = (typeof parameterNames)[number];

/** The query parameters that select a profile; the same options select it in `lectern lesson export`. */
export type ProfileQuery = { readonly [name in ParameterName]?: string | undefined };

/** A {@link ProfileQuery} with the options of the profile. */
export type ExportQuery = ProfileQuery & { readonly [name in keyof PackageQuery]?: unknown };

/**
 * The content and layout of an archive, as far as the API, the workers and the CLI share it. The files
 * themselves come from the profile of the same id in worker/exports/profiles/.
 */
export interface ExportProfile {
  query: ProfileQuery;
  /** The effect of the parameter's value: for the API's documentation, and for the command's help. */
  description?: string;
  help?: string;
  /**
   * Returns the inputs of the archive's bytes besides version and format, such as the player's release, or null. It is
   * part of the export key.
   */
  variant: (source: ProfileSource) => string | null | Promise<string>;
  /** Whether it has a page that plays the lesson, in the lesson's theme. */
  hasPage?: boolean;
  /** The options of packages for learning platforms that it has. */
  options?: readonly (keyof PackageQuery)[];
  /** Whether the archive has no manifest.json, so that its files cannot be listed. */
  isUnlisted?: boolean;
  /** Returns the folder that holds all files of the archive; '' for files at the archive's top level. */
  rootFolder: (version: NamedVersion) => string;
  /** Returns the name under which browsers save the archive. */
  fileName: (version: NamedVersion) => string;
}

/**
 * Windows' "Extract all" makes a folder of the archive's name around the one inside it, and many of its programs refuse
 * paths of 260 characters.
 */
const maxSlugLength = 54;

/** Returns the name of a version's archives. A digest keeps lessons apart whose slugs are shortened. */
function versionName({ slug, versionNumber }: NamedVersion): string {
  const end = `-v${versionNumber}`;
  if (slug.length <= maxSlugLength) return slug + end;
  const digest = createHash('sha256').update(slug).digest('hex').slice(0, 6);
  return `${slug.slice(0, maxSlugLength - 7).replace(/-$/, '')}-${digest}${end}`;
}

/** Part of the keys of packages: raise it when Lectern writes different ones for the same version and options. */
const packageFormat = 2;
const cartridgeFormat = 1;

/** Returns the profile of packages for learning platforms, which expect all files at the top level. */
function packageProfile(
  format: string,
  description: string,
  further: (source: ProfileSource) => string = () => '',
) {
  return {
    query: { format },
    description,
    help: 'a package for learning platforms',
    variant: async (source: ProfileSource) =>
      `${packageFormat};${await source.playerName()}${further(source)}`,
    hasPage: true,
    options: packageParameters.map(({ name }) => name),
    rootFolder: () => '',
    fileName: (version: NamedVersion) => `${versionName(version)}-${format}.zip`,
  };
}

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
    hasPage: true,
    rootFolder: versionName,
    fileName: (version) => `${versionName(version)}.zip`,
  },
  scorm12: packageProfile('scorm12', 'a SCORM 1.2 package.'),
  scorm2004: packageProfile('scorm2004', 'a SCORM 2004 package (4th edition).'),
  cmi5: packageProfile('cmi5', 'a cmi5 package.', ({ publicUrl }) => `;${publicUrl()}`),
  cartridge: {
    query: { format: 'cartridge' },
    description: 'a thin Common Cartridge, with an LTI link to the lesson and no content.',
    help: 'a package for learning platforms',
    variant: ({ publicUrl }) => `${cartridgeFormat};${publicUrl()}`,
    options: ['preset'],
    isUnlisted: true,
    rootFolder: () => '',
    fileName: (version) => `${versionName(version)}-cartridge.imscc`,
  },
} as const satisfies Record<string, ExportProfile>;

export type ProfileId = keyof typeof exportProfiles;

/** The default profile, as jobs name it. */
export const plainProfile = nameProfile('plain', null);

/** The profile of a job: `<id>`, `<id>:<variant>`, or `<id>:<variant>?<options>`. */
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
  const help = [...new Set(selected.map(({ help }) => help))].join('; ');
  return { name, values, fault, description: descriptions.join(' '), help };
});

/**
 * Returns the profile that a query selects, with its options, as jobs name it.
 *
 * @throws {LecternError} BAD_REQUEST when no profile has exactly these parameters, or for invalid options.
 */
export async function selectProfile(query: ExportQuery, source: ProfileSource): Promise<string> {
  const found = profiles.find(([, profile]) =>
    parameterNames.every((name) => profile.query[name] === query[name]),
  );
  if (found === undefined) throw new LecternError('BAD_REQUEST', 'include cannot be combined with a format');
  const [id, profile] = found;
  const options = packageParameters.map(({ name }) => name).filter((name) => query[name] !== undefined);
  const unknown = options.find((name) => profile.options?.includes(name) !== true);
  if (unknown !== undefined) {
    const needs = query.format === undefined ? 'needs a format' : `does not apply to format ${query.format}`;
    throw new LecternError('BAD_REQUEST', `${unknown} ${needs}`);
  }
  const text = canonicalQuery(Object.fromEntries(options.map((name) => [name, query[name]]))).toString();
  const variant = await profile.variant(source);
  return nameProfile(id, text === '' ? variant : `${variant}?${text}`);
}

/** A profile as a job names it. */
export interface NamedProfile {
  /** Null where this release lacks the profile. */
  id: ProfileId | null;
  variant: string | null;
  /** The options, as a query; '' for none. */
  options: string;
}

export function parseProfile(name: string): NamedProfile {
  const [, id = '', variant, options] = /^([^:]*)(?::([^?]*)(?:\?(.*))?)?$/s.exec(name) ?? [];
  return {
    id: Object.hasOwn(exportProfiles, id) ? (id as ProfileId) : null,
    variant: variant ?? null,
    options: options ?? '',
  };
}

/** Returns the query parameters that select the profile of a job. */
export function queryOf(job: { profile: string }): URLSearchParams {
  const query = new URLSearchParams(Object.entries(profileOf(job).query));
  for (const [name, value] of new URLSearchParams(parseProfile(job.profile).options)) query.set(name, value);
  return query;
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
