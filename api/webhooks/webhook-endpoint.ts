import type { Database } from '../../shared/models/database.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { webhookNotFound } from '../../shared/webhooks/manage.ts';
import { apiErrors } from '../http/error-format.ts';
import { failure } from '../http/responses.ts';
import { webhookParams } from './webhook-requests.ts';

/* What the endpoints of webhooks share. */

export const common = {
  scope: 'deliveries',
  errors: apiErrors(),
  invalid: 'INVALID_CONTENT',
  tag: 'Webhooks',
} as const;

/** Returns the definition of an action on one webhook. */
export const actionOf = (name: string) =>
  ({ ...common, method: 'post', path: `/api/webhooks/:webhookId/${name}`, params: webhookParams }) as const;

export const notFound = failure(
  'There is no such webhook, or it belongs to another organization.',
  webhookNotFound,
);

export interface WebhookDependencies {
  db: Database;
  config: Pick<Config, 'download' | 'isLocal'>;
  secrets: Pick<Secrets, 'keyPepper'>;
}
