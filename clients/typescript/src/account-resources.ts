import type { Body, CreateOptions, Http, Query, RequestOptions } from './http.ts';
import { list } from './pages.ts';

/* The organization itself: its users and API keys, its look, and its learning platforms. */

const oneUser = '/api/users/{userId}';
const oneKey = '/api/keys/{publicKey}';
const onePlatform = '/api/platforms/{platformId}';

export const organization = (http: Http) => ({
  retrieve: (options?: RequestOptions) => http.json('GET /api/organization', {}, options),
  update: (changes: Body<'PATCH /api/organization'>, options?: RequestOptions) =>
    http.json('PATCH /api/organization', { json: changes }, options),
  storage: (options?: RequestOptions) => http.json('GET /api/organization/storage', {}, options),
  theme: (options?: RequestOptions) => http.json('GET /api/organization/theme', {}, options),
  updateTheme: (changes: Body<'PATCH /api/organization/theme'>, options?: RequestOptions) =>
    http.json('PATCH /api/organization/theme', { json: changes }, options),
});

export const users = (http: Http) => ({
  list: (query: Query<'GET /api/users'> = {}, options?: RequestOptions) =>
    list(http, 'GET /api/users', { query }, (page) => page.users, options),
  /** Creates a user, with a link that sets a password once. Lectern sends no email. */
  create: (user: Body<'POST /api/users'>, options?: CreateOptions) =>
    http.create('POST /api/users', { json: user }, options),
  retrieve: (userId: string, options?: RequestOptions) =>
    http.json(`GET ${oneUser}`, { params: { userId } }, options),
  update: (userId: string, changes: Body<`PATCH ${typeof oneUser}`>, options?: RequestOptions) =>
    http.json(`PATCH ${oneUser}`, { params: { userId }, json: changes }, options),
  delete: (userId: string, options?: RequestOptions) =>
    http.json(`DELETE ${oneUser}`, { params: { userId } }, options),
  /** Returns another link, also for a forgotten password. */
  invite: (userId: string, options?: CreateOptions) =>
    http.create(`POST ${oneUser}/invitation`, { params: { userId } }, options),
});

export const apiKeys = (http: Http) => ({
  list: (query: Query<'GET /api/keys'> = {}, options?: RequestOptions) =>
    list(http, 'GET /api/keys', { query }, (page) => page.keys, options),
  /** Creates a key. The result has its credentials: no other response shows them. */
  create: (key: Body<'POST /api/keys'>, options?: CreateOptions) =>
    http.create('POST /api/keys', { json: key }, options),
  /** Creates a successor. The old key stays valid for a day, or for `overlapHours`. */
  rotate: (publicKey: string, { overlapHours, ...options }: CreateOptions & { overlapHours?: number } = {}) =>
    http.create(`POST ${oneKey}/rotate`, { params: { publicKey }, json: { overlapHours } }, options),
  revoke: (publicKey: string, options?: RequestOptions) =>
    http.json(`DELETE ${oneKey}`, { params: { publicKey } }, options),
});

export const platforms = (http: Http) => ({
  list: (query: Query<'GET /api/platforms'> = {}, options?: RequestOptions) =>
    list(http, 'GET /api/platforms', { query }, (page) => page.platforms, options),
  create: (platform: Body<'POST /api/platforms'>, options?: CreateOptions) =>
    http.create('POST /api/platforms', { json: platform }, options),
  retrieve: (platformId: string, options?: RequestOptions) =>
    http.json(`GET ${onePlatform}`, { params: { platformId } }, options),
  /** Approves or changes a platform. */
  update: (platformId: string, changes: Body<`PATCH ${typeof onePlatform}`>, options?: RequestOptions) =>
    http.json(`PATCH ${onePlatform}`, { params: { platformId }, json: changes }, options),
  delete: (platformId: string, options?: RequestOptions) =>
    http.json(`DELETE ${onePlatform}`, { params: { platformId } }, options),
});

export const platformRegistrations = (http: Http) => ({
  list: (query: Query<'GET /api/platform-registrations'> = {}, options?: RequestOptions) =>
    list(http, 'GET /api/platform-registrations', { query }, (page) => page.registrations, options),
  /** Returns a URL with which one platform registers itself. */
  create: (options?: CreateOptions) => http.create('POST /api/platform-registrations', {}, options),
  revoke: (registrationId: string, options?: RequestOptions) =>
    http.json('DELETE /api/platform-registrations/{registrationId}', { params: { registrationId } }, options),
});

export const grades = (http: Http) => ({
  /** Lists grades for learning platforms, with the cause where a platform does not accept one. */
  list: (query: Query<'GET /api/grades'> = {}, options?: RequestOptions) =>
    list(http, 'GET /api/grades', { query }, (page) => page.grades, options),
  resend: (which: Body<'POST /api/grades/resend'>, options?: RequestOptions) =>
    http.once('POST /api/grades/resend', { json: which }, options),
  dismiss: (which: Body<'POST /api/grades/dismiss'>, options?: RequestOptions) =>
    http.json('POST /api/grades/dismiss', { json: which }, options),
});
