import type { Database } from '../models/database.ts';
import { deleteVersion } from '../models/lesson-version.ts';
import { deleteWidgetRelease } from '../models/widget-release.ts';
import { removeImport } from './unfinished-imports.ts';

/** What an import has written so far, for the case that it fails; its files are left to a sweep. */
export class ImportUndo {
  readonly #db: Database;
  readonly #versionId: string;
  readonly #releases: { organizationId: string; widgetId: string; type: string }[] = [];
  #hasVersion = false;

  /** The content and the media are found by the version's id. */
  constructor(db: Database, versionId: string) {
    this.#db = db;
    this.#versionId = versionId;
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
    await removeImport(this.#db, this.#versionId);
  }
}
