import type { z } from 'zod';
import type { Database } from '../../shared/models/database.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { webhookNotFound } from '../../shared/webhooks/manage.ts';
import { apiErrors } from '../http/error-format.ts';
import { jsonBody } from '../http/middleware/json-body.ts';
import { parseRequest } from '../http/parse-request.ts';
import { failure } from '../http/responses.ts';
import { requestFaults, webhookParams } from './webhook-requests.ts';

/* What the endpoints of webhooks share. */

export const common = { errors: apiErrors(), invalid: 'INVALID_CONTENT', tag: 'Webhooks' } as const;

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

/** Defines a JSON body. @param faults messages beyond those of every body. */
export function bodyOf<Schema extends z.ZodType>(
  schema: Schema,
  examples: Parameters<typeof jsonBody>[0]['examples'],
  faults: readonly string[] = [],
) {
  return jsonBody({
    maxBytes: 64 * 1024,
    description: 'Unknown fields are rejected.',
    schema,
    parse: (text): z.output<Schema> => parseRequest(schema, JSON.parse(text), 'INVALID_CONTENT'),
    faults: [...requestFaults, ...faults],
    examples,
  });
}
