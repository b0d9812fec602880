import type { Body, CreateOptions, Http, Query, RequestOptions } from './http.ts';
import { list } from './pages.ts';

/* What Lectern sends: webhooks, xAPI destinations, deliveries. And the log of what was done. */

const oneWebhook = '/api/webhooks/{webhookId}';
const oneDestination = '/api/xapi-destinations/{destinationId}';

export const webhooks = (http: Http) => ({
  /** Creates a webhook. The result has the secret that signs its deliveries: no other response shows it. */
  create: (webhook: Body<'POST /api/webhooks'>, options?: CreateOptions) =>
    http.create('POST /api/webhooks', { json: webhook }, options),
  list: (options?: RequestOptions) => list(http, 'GET /api/webhooks', {}, (page) => page.webhooks, options),
  retrieve: (webhookId: string, options?: RequestOptions) =>
    http.json(`GET ${oneWebhook}`, { params: { webhookId } }, options),
  update: (webhookId: string, changes: Body<`PATCH ${typeof oneWebhook}`>, options?: RequestOptions) =>
    http.json(`PATCH ${oneWebhook}`, { params: { webhookId }, json: changes }, options),
  delete: (webhookId: string, options?: RequestOptions) =>
    http.json(`DELETE ${oneWebhook}`, { params: { webhookId } }, options),
  /** Sends a `ping`. */
  ping: (webhookId: string, options?: CreateOptions) =>
    http.create(`POST ${oneWebhook}/test`, { params: { webhookId } }, options),
  /** Returns a new secret. The previous one keeps signing for a day, or for `overlapSeconds`. */
  rotateSecret: (
    webhookId: string,
    { overlapSeconds, ...options }: CreateOptions & { overlapSeconds?: number } = {},
  ) => http.create(`POST ${oneWebhook}/rotate`, { params: { webhookId }, json: { overlapSeconds } }, options),
  /** Sends the deliveries of a period again. */
  replay: (webhookId: string, period: Body<`POST ${typeof oneWebhook}/replay`>, options?: RequestOptions) =>
    http.once(`POST ${oneWebhook}/replay`, { params: { webhookId }, json: period }, options),
  deliveries: (
    webhookId: string,
    query: Query<`GET ${typeof oneWebhook}/deliveries`> = {},
    options?: RequestOptions,
  ) =>
    list(
      http,
      `GET ${oneWebhook}/deliveries`,
      { params: { webhookId }, query },
      (page) => page.deliveries,
      options,
    ),
  resend: (webhookId: string, deliveryId: string, options?: RequestOptions) =>
    http.once(
      `POST ${oneWebhook}/deliveries/{deliveryId}/resend`,
      { params: { webhookId, deliveryId } },
      options,
    ),
});

export const xapiDestinations = (http: Http) => ({
  create: (destination: Body<'POST /api/xapi-destinations'>, options?: CreateOptions) =>
    http.create('POST /api/xapi-destinations', { json: destination }, options),
  list: (options?: RequestOptions) =>
    list(http, 'GET /api/xapi-destinations', {}, (page) => page.destinations, options),
  retrieve: (destinationId: string, options?: RequestOptions) =>
    http.json(`GET ${oneDestination}`, { params: { destinationId } }, options),
  update: (
    destinationId: string,
    changes: Body<`PATCH ${typeof oneDestination}`>,
    options?: RequestOptions,
  ) => http.json(`PATCH ${oneDestination}`, { params: { destinationId }, json: changes }, options),
  delete: (destinationId: string, options?: RequestOptions) =>
    http.json(`DELETE ${oneDestination}`, { params: { destinationId } }, options),
  /** Asks the LRS whether it accepts the user name and the password. */
  test: (destinationId: string, options?: RequestOptions) =>
    http.json(`POST ${oneDestination}/test`, { params: { destinationId } }, options),
  /** Sends the statements of a period again. */
  replay: (
    destinationId: string,
    period: Body<`POST ${typeof oneDestination}/replay`>,
    options?: RequestOptions,
  ) => http.once(`POST ${oneDestination}/replay`, { params: { destinationId }, json: period }, options),
});

export const deliveries = (http: Http) => ({
  /** Lists everything that Lectern sent or will send: events, statements and grades, the newest first. */
  list: (query: Query<'GET /api/deliveries'> = {}, options?: RequestOptions) =>
    list(http, 'GET /api/deliveries', { query }, (page) => page.deliveries, options),
  resend: (deliveryId: string, options?: RequestOptions) =>
    http.once('POST /api/deliveries/{deliveryId}/resend', { params: { deliveryId } }, options),
  dismiss: (deliveryId: string, options?: RequestOptions) =>
    http.json('POST /api/deliveries/{deliveryId}/dismiss', { params: { deliveryId } }, options),
});

export const audit = (http: Http) => ({
  /** Lists the entries of the audit log, the oldest first unless `order` is `newest`. */
  list: (query: Query<'GET /api/audit'> = {}, options?: RequestOptions) =>
    list(http, 'GET /api/audit', { query }, (page) => page.entries, options),
});
