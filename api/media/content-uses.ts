import { LRUCache } from 'lru-cache';
import { usedWidgetTypes } from '../../shared/lessons/blocks.ts';
import { mediaReferences } from '../../shared/lessons/media-references.ts';
import type { Database } from '../../shared/models/database.ts';
import { findContent } from '../../shared/models/lesson-content.ts';

/** Names that are kept in memory, of all versions together. */
const maxNames = 100_000;

interface Uses {
  media: ReadonlySet<string>;
  widgetTypes: ReadonlySet<string>;
}

/**
 * What the contents of versions refer to: for what a version's package did not bring and publishing did not pin, and
 * which therefore is another lesson's until the content says otherwise.
 */
export class ContentUses {
  readonly #cache: LRUCache<string, Uses>;

  constructor(db: Database) {
    this.#cache = new LRUCache<string, Uses>({
      maxSize: maxNames,
      sizeCalculation: ({ media, widgetTypes }) => media.size + widgetTypes.size + 1,
      // Content never changes, and requests for one version at the same time share one reading of it.
      fetchMethod: async (versionId) => {
        const content = await findContent(db, versionId);
        if (content === null) return undefined;
        return {
          // Copies: an id that is cut out of a text would keep all of the text in memory.
          media: new Set(structuredClone(mediaReferences(content))),
          widgetTypes: new Set(usedWidgetTypes(content)),
        };
      },
    });
  }

  async refersToMedium(versionId: string, mediaId: string): Promise<boolean> {
    return (await this.#cache.fetch(versionId))?.media.has(mediaId) === true;
  }

  async usesWidget(versionId: string, type: string): Promise<boolean> {
    return (await this.#cache.fetch(versionId))?.widgetTypes.has(type) === true;
  }
}
