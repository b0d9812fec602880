import type { Database } from '../models/database.ts';
import { insertExternalWidgets } from '../models/external-widget.ts';
import type { Organization } from '../models/organization.ts';
import type { StorageQuota } from '../models/stored-bytes.ts';
import type { Store } from '../storage/store.ts';
import { externalWidgetIdOf, releaseForVersion, storeWidgetFiles } from '../widgets/releases.ts';
import type { ReleasedWidget, WidgetFiles } from '../widgets/releases.ts';
import { checkDigest } from './checked-stream.ts';
import type { PackageFiles } from './lesson-package.ts';

/** A widget of a package whose files are in the store. */
export interface StoredWidget extends WidgetFiles {
  type: string;
}

/** Stores the files of a package's widgets. Nothing refers to them until {@link releaseWidgets}. */
export async function storeWidgets(
  { db, store }: { db: Database; store: Store },
  pkg: PackageFiles,
  quota: StorageQuota,
): Promise<StoredWidget[]> {
  const stored: StoredWidget[] = [];
  for (const { type, js, css, sha256, cssSha256 } of pkg.widgets) {
    const sources = { js: js.open(), css: css === undefined ? null : css.open() };
    const files = await storeWidgetFiles(db, store, sources, (file) => quota.addFile(file));
    checkDigest(js.path, files.js, sha256);
    if (css !== undefined && files.css !== null) checkDigest(css.path, files.css, cssSha256);
    stored.push({ type, ...files });
  }
  return stored;
}

/** Stores the package's widgets by URL for a version that does not exist yet, without downloading them. */
export async function storeExternalWidgets(
  db: Database,
  { _id: organizationId }: Organization,
  { externalWidgets }: PackageFiles,
  versionId: string,
): Promise<void> {
  await insertExternalWidgets(
    db,
    externalWidgets.map(({ type, sourceUrl, cssSourceUrl }) => {
      const widgetId = externalWidgetIdOf(type, sourceUrl, cssSourceUrl);
      return { organizationId, versionId, type, widgetId, sourceUrl, cssSourceUrl };
    }),
  );
}

/** Makes releases of a package's widgets that serve only its version. A sweep removes unused ones. */
export async function releaseWidgets(
  db: Database,
  { _id: organizationId }: Organization,
  widgets: StoredWidget[],
): Promise<ReleasedWidget[]> {
  const releases: ReleasedWidget[] = [];
  for (const widget of widgets) releases.push(await releaseForVersion(db, { organizationId, ...widget }));
  return releases;
}
