import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { schemaOptions } from '../platform/mongo.ts';
import { mergedTheme, themeFiles } from '../theme/theme.ts';
import type { Theme } from '../theme/theme.ts';
import { batched } from './batched.ts';

/** The theme of an organization, or of one of its lessons. */
export interface StoredTheme {
  /** The id of the organization or the lesson. */
  _id: string;
  organizationId: string;
  theme: Theme;
  /** The SHA-256 of its files, which the store keeps. */
  files: string[];
}

export interface ThemeDb {
  themes: Model<StoredTheme>;
}

export const storedThemeSchema = new Schema<StoredTheme>(
  {
    _id: { type: String, required: true },
    organizationId: { type: String, required: true },
    theme: { type: Schema.Types.Mixed, required: true },
    files: { type: [String], required: true },
  },
  { ...schemaOptions, minimize: false },
);
storedThemeSchema.index({ files: 1 });

const findById = batched(async (db: ThemeDb, ids: readonly string[]) => {
  const found = await db.themes
    .find({ _id: { $in: [...new Set(ids)] } })
    .lean<StoredTheme[]>()
    .exec();
  const byId = new Map(found.map((stored) => [stored._id, stored]));
  return (id) => byId.get(id) ?? null;
});

/** Returns the theme that an organization or a lesson sets; null for none. */
export async function findTheme(db: ThemeDb, organizationId: string, id: string): Promise<Theme | null> {
  const stored = await findById(db, id);
  return stored?.organizationId === organizationId ? stored.theme : null;
}

/** Returns the theme of a lesson; null for Lectern's own look. */
export async function findLessonTheme(
  db: ThemeDb,
  { organizationId, lessonId }: { organizationId: string; lessonId: string },
): Promise<Theme | null> {
  const [organization, lesson] = await Promise.all(
    [organizationId, lessonId].map((id) => findTheme(db, organizationId, id)),
  );
  return mergedTheme(organization ?? null, lesson ?? null);
}

/** Stores the theme of an organization or a lesson; null removes it. */
export async function saveTheme(
  db: ThemeDb,
  organizationId: string,
  id: string,
  theme: Theme | null,
): Promise<void> {
  if (theme === null) await db.themes.deleteOne({ _id: id });
  else {
    const files = themeFiles(theme).map(({ sha256 }) => sha256);
    await db.themes.updateOne({ _id: id }, { $set: { organizationId, theme, files } }, { upsert: true });
  }
}

/** Returns those of the files that any theme uses. */
export async function assetsUsedByThemes(db: ThemeDb, sha256s: string[]): Promise<string[]> {
  return db.themes.distinct('files', { files: { $in: sha256s } });
}
