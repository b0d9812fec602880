import { randomUUID } from 'node:crypto';
import type { JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import { atMost } from '../shared/platform/cache-size.ts';
import { urlsAt } from './urls.ts';
import type { PlatformUrls } from './urls.ts';
import { createFaults } from './faults.ts';
import type { Faults } from './faults.ts';
import type { PlatformKey, PlatformKeys } from './keys.ts';
import { createJournal } from './journal.ts';
import type { Journal } from './journal.ts';
import type { Course, Launch, LineItem, Link, Score, Tool, User } from './model.ts';
import type { Tampering } from './id-token.ts';

export interface PlatformSettings {
  /** `iss` of the messages; by default the platform's own URL. */
  issuer?: string;
  /**
   * Whether URLs of line items have a query (`?type_id=1`, as Moodle's do) that requests must repeat. With "optional",
   * requests may omit it, as Moodle allows.
   */
  lineItemQuery?: 'required' | 'optional';
  /** Whether the response to a dynamic registration names a deployment (Moodle does, Canvas does not). */
  deploymentOnRegistration?: boolean;
  /** The resolution in which a score's timestamp must be later than the last one's; by default seconds, as in Moodle. */
  timestamps?: 'seconds' | 'milliseconds';
  /** How many scores of a user in a line item may be submissions, as Canvas counts attempts; by default any number. */
  attempts?: number;
  /** Whether it registers tools, and shows them in placements, by Canvas's rules. */
  canvas?: boolean;
}

export interface AccessToken {
  clientId: string;
  scopes: readonly string[];
}

/** The platform's state, which is in memory only. */
export interface Platform {
  settings: Required<PlatformSettings>;
  urls: PlatformUrls;
  /** `guid` of `tool_platform`. */
  guid: string;
  keys: PlatformKeys;
  tools: Map<string, Tool>;
  users: Map<string, User>;
  courses: Map<string, Course>;
  links: Map<string, Link>;
  lineItems: Map<string, LineItem>;
  /** The number of the newest line item. */
  lastLineItem: number;
  /** All accepted scores, in order of arrival. */
  scores: Score[];
  /** By their `lti_message_hint`. */
  launches: LRUCache<string, Launch>;
  /** Pending deep linking requests, by `data`. */
  deepLinks: LRUCache<string, Launch>;
  accessTokens: LRUCache<string, AccessToken>;
  /** Used ids of assertions and nonces of responses. */
  used: LRUCache<string, true>;
  /** One-time tokens of dynamic registration; the tool's client id once it is registered. */
  registrationTokens: LRUCache<string, { clientId: string | null }>;
  /** By the URL of the tool's JWKS. */
  toolKeys: Map<string, JWTVerifyGetKey>;
  /** Faults of the next id_tokens, one each. */
  tamperings: Tampering[];
  faults: Faults;
  journal: Journal;
}

const hourMs = 3_600_000;
const maxEntries = 10_000;

/** How long access tokens are valid. */
export const tokenSeconds = 3_600;

/** @param url where it listens, such as http://127.0.0.1:4000. */
export function createPlatform(url: string, key: PlatformKey, settings: PlatformSettings): Platform {
  const urls = urlsAt(url);
  return {
    settings: {
      issuer: settings.issuer ?? url,
      lineItemQuery: settings.lineItemQuery ?? 'required',
      deploymentOnRegistration: settings.deploymentOnRegistration ?? settings.canvas !== true,
      timestamps: settings.timestamps ?? 'seconds',
      attempts: settings.attempts ?? Infinity,
      canvas: settings.canvas ?? false,
    },
    urls,
    guid: randomUUID(),
    keys: [key],
    tools: new Map(),
    users: new Map(),
    courses: new Map(),
    links: new Map(),
    lineItems: new Map(),
    lastLineItem: 10,
    scores: [],
    launches: new LRUCache({ ...atMost(maxEntries), ttl: hourMs }),
    deepLinks: new LRUCache({ ...atMost(maxEntries), ttl: hourMs }),
    accessTokens: new LRUCache({ ...atMost(maxEntries), ttl: tokenSeconds * 1_000 }),
    used: new LRUCache({ ...atMost(maxEntries), ttl: 2 * hourMs }),
    registrationTokens: new LRUCache({ ...atMost(maxEntries), ttl: hourMs }),
    toolKeys: new Map(),
    tamperings: [],
    faults: createFaults(),
    journal: createJournal(),
  };
}
