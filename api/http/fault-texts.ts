import type { z } from 'zod';

/**
 * Returns the error texts of schemas, in the order of their fields, for the OpenAPI document. Where a text depends on
 * the value, it returns the texts for a missing value, a number and an unknown key.
 */
export function faultTexts(...schemas: readonly (z.ZodType | undefined)[]): string[] {
  return [
    ...new Set(schemas.flatMap((schema) => (schema === undefined ? [] : textsOf(schema as z.core.$ZodType)))),
  ];
}

function textsOf(schema: z.core.$ZodType): string[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const checks = def.checks ?? [];
  return [
    ...textsOfError(def.error),
    ...partsOf(def).flatMap(textsOf),
    ...checks.flatMap((check) => textsOfError(check._zod.def.error)),
  ];
}

/** Returns the schemas inside a schema, including those that parse another one's output. */
function partsOf(def: z.core.$ZodTypes['_zod']['def']): readonly z.core.$ZodType[] {
  if (def.type === 'object') return Object.values(def.shape);
  if (def.type === 'pipe') return [def.in, def.out];
  if (def.type === 'optional' || def.type === 'nullable' || def.type === 'default') return [def.innerType];
  return [];
}

const issues = [
  { code: 'invalid_type', input: undefined },
  { code: 'invalid_type', input: 0 },
];

function textsOfError(error: unknown): string[] {
  if (typeof error !== 'function') return [];
  return issues
    .map((issue) => (error as (issue: object) => unknown)({ ...issue, keys: [], path: [] }))
    .filter((text) => typeof text === 'string');
}
