import {
  apiKeys,
  grades,
  organization,
  platformRegistrations,
  platforms,
  users,
} from './account-resources.ts';
import { audit, deliveries, webhooks, xapiDestinations } from './delivery-resources.ts';
import { Http } from './http.ts';
import type { LecternOptions } from './http.ts';
import {
  drafts,
  media,
  exports,
  imports,
  learners,
  lessons,
  progress,
  retention,
  tokens,
  versions,
} from './resources.ts';

export * from './api.ts';
export * from './errors.ts';
export type { DownloadOptions } from './archive.ts';
export type { Download } from './download.ts';
export type { CreateOptions, LecternOptions, RequestOptions } from './http.ts';
export type { Pages } from './pages.ts';
export type { ArchiveQuery } from './resources.ts';
export type { ImportOptions } from './upload.ts';
export { verifyWebhook } from './webhook.ts';
export type { VerifyOptions, WebhookRequest } from './webhook.ts';

type ResourceOf<Create extends (http: Http) => unknown> = ReturnType<Create>;

/** A client of one organization, for servers. */
export class Lectern {
  readonly tokens: ResourceOf<typeof tokens>;
  readonly lessons: ResourceOf<typeof lessons>;
  readonly versions: ResourceOf<typeof versions>;
  readonly drafts: ResourceOf<typeof drafts>;
  readonly media: ResourceOf<typeof media>;
  readonly imports: ResourceOf<typeof imports>;
  readonly exports: ResourceOf<typeof exports>;
  readonly progress: ResourceOf<typeof progress>;
  readonly learners: ResourceOf<typeof learners>;
  readonly retention: ResourceOf<typeof retention>;
  readonly webhooks: ResourceOf<typeof webhooks>;
  readonly xapiDestinations: ResourceOf<typeof xapiDestinations>;
  readonly deliveries: ResourceOf<typeof deliveries>;
  readonly audit: ResourceOf<typeof audit>;
  readonly organization: ResourceOf<typeof organization>;
  readonly users: ResourceOf<typeof users>;
  readonly apiKeys: ResourceOf<typeof apiKeys>;
  readonly platforms: ResourceOf<typeof platforms>;
  readonly platformRegistrations: ResourceOf<typeof platformRegistrations>;
  readonly grades: ResourceOf<typeof grades>;

  constructor(options: LecternOptions) {
    const http = new Http(options);
    this.tokens = tokens(http);
    this.lessons = lessons(http);
    this.versions = versions(http);
    this.drafts = drafts(http);
    this.media = media(http);
    this.imports = imports(http);
    this.exports = exports(http);
    this.progress = progress(http);
    this.learners = learners(http);
    this.retention = retention(http);
    this.webhooks = webhooks(http);
    this.xapiDestinations = xapiDestinations(http);
    this.deliveries = deliveries(http);
    this.audit = audit(http);
    this.organization = organization(http);
    this.users = users(http);
    this.apiKeys = apiKeys(http);
    this.platforms = platforms(http);
    this.platformRegistrations = platformRegistrations(http);
    this.grades = grades(http);
  }
}
