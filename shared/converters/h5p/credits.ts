import { listOf, recordOf } from '../../lessons/json-values.ts';
import type { Attribution } from '../../lessons/player-lesson.ts';
import { isHttpUrl } from '../../platform/parse-url.ts';
import { plainOf } from './texts.ts';

/*
 * Authors, sources and licenses. New content has them in `metadata`, older files in `copyright`, and the package in
 * h5p.json.
 */

export interface Credit {
  /** Title, authors, years and license, for people. */
  text: string;
  /** http or https; empty if unknown. */
  sourceUrl: string;
  licenseUrl: string;
}

/** The license codes of H5P that are not the license's name. */
const licenseNames: Record<string, string> = {
  C: '©',
  PD: 'Public Domain',
  'CC PDM': 'Public Domain Mark 1.0',
  'CC0 1.0': 'CC0 1.0',
};

const publicDomainUrls: Record<string, string> = {
  'CC PDM': 'https://creativecommons.org/publicdomain/mark/1.0/',
  'CC0 1.0': 'https://creativecommons.org/publicdomain/zero/1.0/',
};

const maxCreditLength = 2000;
const maxUrlLength = 2000;

/** Returns the license code of `metadata` or `copyright`; empty for an undisclosed license. */
export function licenseOf(metadata: Record<string, unknown>): string {
  const code = plainOf(metadata.license);
  return code === 'U' ? '' : code;
}

/** Returns the name of a license, for people. */
export function licenseName(metadata: Record<string, unknown>): string {
  const code = licenseOf(metadata);
  const version = plainOf(metadata.licenseVersion ?? metadata.version);
  const name = own(licenseNames, code) ?? code;
  return name === '' || version === '' || /\d$/.test(name) ? name : `${name} ${version}`;
}

export function forbidsAdaptation(license: string): boolean {
  return /-ND\b/.test(license);
}

/** Returns the credit of a file or a content; null if nothing is known. */
export function creditOf(metadata: Record<string, unknown>): Credit | null {
  const license = licenseName(metadata);
  const source = plainOf(metadata.source);
  const names = listOf(metadata.authors).map((author) => plainOf(recordOf(author).name));
  const authors = names.concat(plainOf(metadata.author)).filter((name) => name !== '');
  if (license === '' && authors.length === 0 && source === '') return null;
  const changes = listOf(metadata.changes).map((change) => plainOf(recordOf(change).log));
  const isUrl = isHttpUrl(source) && source.length <= maxUrlLength;
  const texts = [
    ...[titleIn(metadata), ...authors, yearsOf(metadata), license],
    ...[plainOf(metadata.licenseExtras), ...changes, isUrl ? '' : source],
  ];
  return {
    text: texts
      .filter((text) => text !== '')
      .join(', ')
      .slice(0, maxCreditLength),
    sourceUrl: isUrl ? source : '',
    licenseUrl: licenseUrlOf(metadata),
  };
}

/** Returns the title that an author wrote; empty for the editor's own, such as "Untitled Text". */
export function titleIn(metadata: Record<string, unknown>): string {
  const title = plainOf(metadata.title);
  return /^Untitled\b/.test(title) ? '' : title;
}

function yearsOf(metadata: Record<string, unknown>): string {
  const from = plainOf(metadata.yearFrom ?? metadata.yearsFrom ?? metadata.year);
  const to = plainOf(metadata.yearTo ?? metadata.yearsTo);
  return from !== '' && to !== '' && to !== from ? `${from}–${to}` : from || to;
}

function licenseUrlOf(metadata: Record<string, unknown>): string {
  const code = licenseOf(metadata);
  const terms = /^CC (BY(?:-NC)?(?:-SA|-ND)?)$/.exec(code)?.[1]?.toLowerCase();
  if (terms === undefined) return own(publicDomainUrls, code) ?? '';
  const version = plainOf(metadata.licenseVersion ?? metadata.version);
  return `https://creativecommons.org/licenses/${terms}/${/^\d\.\d$/.test(version) ? version : '4.0'}/`;
}

/** Returns the credit as that of a media file. */
export function attributionOf({ text, sourceUrl, licenseUrl }: Credit): Attribution {
  const license = sourceUrl !== '' && licenseUrl !== '' ? ` (${licenseUrl})` : '';
  return { text: `${text}${license}`, url: sourceUrl || licenseUrl, portfolioUrl: '' };
}

/** Returns a member of a table by a name from a file, which may be `constructor`. */
function own(table: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
