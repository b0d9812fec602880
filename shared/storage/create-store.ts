import type { Config } from '../config.ts';
import { createDiskStore } from './disk-store.ts';
import type { Store } from './store.ts';

/** What a store is made from. */
export type StoreConfig = Pick<Config, 'storeDir'>;

/** The store that the settings name. Nothing is connected or written; `store.check()` does that. */
export function createStore(config: StoreConfig): Promise<Store> {
  return Promise.resolve(createDiskStore(config.storeDir));
}
