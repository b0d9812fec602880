import type { Database } from '../models/database.ts';
import { deleteVersion } from '../models/lesson-version.ts';
import { deleteWidgetRelease } from '../models/widget-release.ts';
import type { Store } from '../storage/store.ts';
import { deleteUnusedAssets } from '../unused-assets.ts';
import { removeImport } from './unfinished-imports.ts';

/** What an import has written so far, for the case that it fails. */
export class ImportUndo {
  readonly #db: Database;
  readonly #store: Store;
  readonly #versionId: string;
  readonly #files: string[] = [];
  readonly #releases: { organizationId: string; widgetId: string; type: string }[] = [];
  #hasVersion = false;

  /** The content, and the media with their files, are found by the version's id. */
  constructor(db: Database, store: Store, versionId: string) {
    this.#db = db;
    this.#store = store;
    this.#versionId = versionId;
  }

  /** Files of widgets that were not in the store before. */
  addFiles(sha256s: string[]): void {
    this.#files.push(...sha256s);
  }

  addRelease(release: { organizationId: string; widgetId: string; type: string }): void {
    this.#releases.push(release);
  }

  addVersion(): void {
    this.#hasVersion = true;
  }

  async run(): Promise<void> {
    if (this.#hasVersion) await deleteVersion(this.#db, this.#versionId);
    for (const release of this.#releases) await deleteWidgetRelease(this.#db, release);
    await deleteUnusedAssets(this.#db, this.#store, this.#files);
    await removeImport(this.#db, this.#store, this.#versionId);
  }
}
