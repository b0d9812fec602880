import { randomUUID } from 'node:crypto';
import type { JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import { addressesAt } from './addresses.ts';
import type { Addresses } from './addresses.ts';
import { createFaults } from './faults.ts';
import type { Faults } from './faults.ts';
import type { PlatformKey, PlatformKeys } from './keys.ts';
import { createJournal } from './journal.ts';
import type { Journal } from './journal.ts';
import type { Course, Launch, LineItem, Link, Score, Tool, User } from './model.ts';
import type { Tampering } from './id-token.ts';

/** How tools see the addresses of line items. */
export const lineItemQueries = ['required', 'optional', 'none'] as const;

/** How finely timestamps of scores are compared. */
export const timestampUnits = ['seconds', 'milliseconds'] as const;

export interface PlatformSettings {
  /** `iss` of the messages; the platform's own address unless told otherwise. */
  issuer?: string;
  /** What assertions of tools must name as their audience; the token endpoint unless told otherwise. */
  authorizationServer?: string;
  /**
   * Whether addresses of line items have a query (`?type_id=1`, as Moodle's do) that requests must repeat; as
   * "optional", Moodle's own leniency, a request without it is served all the same.
   */
  lineItemQuery?: (typeof lineItemQueries)[number];
  /** Whether the answer to a dynamic registration names a deployment (Moodle does, Canvas does not). */
  deploymentOnRegistration?: boolean;
  /** How long access tokens live. */
  tokenSeconds?: number;
  /** What a score has to be newer by than the one before: a second, as for Moodle, unless told otherwise. */
  timestamps?: (typeof timestampUnits)[number];
  /**
   * How many scores of a user in a line item may count as submissions, as Canvas counts the attempts at an assignment;
   * any number unless told otherwise.
   */
  attempts?: number;
}

export interface AccessToken {
  clientId: string;
  scopes: readonly string[];
}

/** Everything the platform knows; in memory only. */
export interface Platform {
  settings: Required<PlatformSettings>;
  addresses: Addresses;
  /** Names the installation: `guid` of `tool_platform`. */
  guid: string;
  keys: PlatformKeys;
  tools: Map<string, Tool>;
  users: Map<string, User>;
  courses: Map<string, Course>;
  links: Map<string, Link>;
  lineItems: Map<string, LineItem>;
  /** The number of the last line item that was made. */
  lastLineItem: number;
  /** All that were accepted, in order of arrival. */
  scores: Score[];
  /** By their `lti_message_hint`. */
  launches: LRUCache<string, Launch>;
  /** Deep linking requests that wait for their response, by `data`. */
  deepLinks: LRUCache<string, Launch>;
  accessTokens: LRUCache<string, AccessToken>;
  /** Ids of assertions and nonces of responses that were used, so that none is used again. */
  used: LRUCache<string, true>;
  /** One-time tokens of dynamic registration; the tool's client id once it is registered. */
  registrationTokens: LRUCache<string, { clientId: string | null }>;
  /** By the URL of the tool's JWKS. */
  toolKeys: Map<string, JWTVerifyGetKey>;
  /** Of the next id_tokens, one each. */
  tamperings: Tampering[];
  faults: Faults;
  journal: Journal;
}

const hour = 3_600_000;
const most = 100_000;

/** @param url where it listens, such as http://127.0.0.1:4000. */
export function createPlatform(url: string, key: PlatformKey, settings: PlatformSettings): Platform {
  const addresses = addressesAt(url);
  const { tokenSeconds = 3600 } = settings;
  return {
    settings: {
      issuer: settings.issuer ?? url,
      authorizationServer: settings.authorizationServer ?? addresses.token,
      lineItemQuery: settings.lineItemQuery ?? 'required',
      deploymentOnRegistration: settings.deploymentOnRegistration ?? true,
      tokenSeconds,
      timestamps: settings.timestamps ?? 'seconds',
      attempts: settings.attempts ?? Infinity,
    },
    addresses,
    guid: randomUUID(),
    keys: [key],
    tools: new Map(),
    users: new Map(),
    courses: new Map(),
    links: new Map(),
    lineItems: new Map(),
    lastLineItem: 10,
    scores: [],
    launches: new LRUCache({ max: most, ttl: hour }),
    deepLinks: new LRUCache({ max: most, ttl: hour }),
    accessTokens: new LRUCache({ max: most, ttl: tokenSeconds * 1000 }),
    used: new LRUCache({ max: most, ttl: 2 * hour }),
    registrationTokens: new LRUCache({ max: most, ttl: hour }),
    toolKeys: new Map(),
    tamperings: [],
    faults: createFaults(),
    journal: createJournal(),
  };
}
