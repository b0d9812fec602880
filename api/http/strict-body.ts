import type { z } from 'zod';
import { jsonBody } from './middleware/json-body.ts';
import { parseRequest } from './endpoint.ts';
import { bodyFault } from '../../shared/platform/unknown-names.ts';

const requestFaults = ['Request body has an unknown field "secret"', bodyFault];

/**
 * Describes the JSON body of a request that changes settings: small, and without unknown fields.
 *
 * @param schema an object with `objectFault()` as its error.
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
