import { fingerprintOf } from './lesson-map.ts';
import type { Question } from './lesson-map.ts';

/*
 * Ids in learning platforms: letters, digits and underscores, beginning with a letter and ending with a letter or a
 * digit. Some platforms reject anything else. They are the same in every version of a lesson.
 */

const maxIdCharacters = 60;

/** Returns the id of a question. A widget's id is unique in its step only, hence the digest. */
export function questionId({ stepId, widgetId }: Pick<Question, 'stepId' | 'widgetId'>): string {
  return safeId('Q', `${widgetId}_${hexOf([stepId, widgetId])}`);
}

/** Returns the id of a section, as an objective. */
export function sectionId(id: string): string {
  return safeId('S', /^[\w-]{1,50}$/.test(id) ? id : `${id}_${hexOf([id])}`);
}

/** Returns an id of the manifest, made of a UUID. */
export function manifestId(prefix: string, uuid: string): string {
  return `${prefix}_${uuid.replaceAll('-', '_')}`;
}

function hexOf(texts: string[]): string {
  return fingerprintOf(texts).toString(16).padStart(8, '0');
}

function safeId(prefix: string, text: string): string {
  const safe = text.replaceAll(/[^a-zA-Z0-9]+/g, '_').replace(/^_+|_+$/g, '');
  return `${prefix}_${safe.slice(-maxIdCharacters)}`;
}
