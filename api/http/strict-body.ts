import type { z } from 'zod';
import { jsonBody } from './middleware/json-body.ts';
import { parseRequest } from './endpoint.ts';

const bodyFault = 'Request body must be a JSON object';
const requestFaults = ['Request body has an unknown field "secret"', bodyFault];

/** Returns the error message for an unknown field or a body that is not an object; for `z.strictObject()`. */
export function objectFault(issue: { code?: string; keys?: string[] }): string {
  return issue.code === 'unrecognized_keys'
    ? `Request body has an unknown field "${issue.keys?.[0] ?? ''}"`
    : bodyFault;
}

/**
 * Describes the JSON body of a request that changes settings: small, and without unknown fields.
 *
 * @param schema an object with {@link objectFault} as its error.
 * @param faults messages that the schema lacks.
 */
export function strictBody<Schema extends z.ZodType>(
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
