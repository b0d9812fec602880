import { LRUCache } from 'lru-cache';
import type { PreparedLessons } from '../../shared/player/prepared-lessons.ts';

/** The number of ids and types kept in memory, for all versions together. */
const maxNames = 100_000;

interface Uses {
  media: ReadonlySet<string>;
  widgetTypes: ReadonlySet<string>;
}

/**
 * Caches which media and widgets the content of each version refers to. A media file or widget that the version's
 * package lacked, and publishing did not pin, belongs to the version only if its content refers to it.
 */
export class UsesCache {
  readonly #cache: LRUCache<string, Uses>;

  constructor(lessons: Pick<PreparedLessons, 'uses'>) {
    this.#cache = new LRUCache<string, Uses>({
      maxSize: maxNames,
      sizeCalculation: ({ media, widgetTypes }) => media.size + widgetTypes.size + 1,
      // Content never changes. Concurrent requests for one version share one read.
      fetchMethod: async (versionId) => {
        const uses = await lessons.uses(versionId);
        return uses === null
          ? undefined
          : { media: new Set(uses.media), widgetTypes: new Set(uses.widgetTypes) };
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
