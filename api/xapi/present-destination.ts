import { z } from 'zod';
import { xapiVerbs, xapiVersions } from '../../shared/models/xapi-destination.ts';
import type { XapiDestination } from '../../shared/models/xapi-destination.ts';
import { testResults } from '../../shared/xapi/test-destination.ts';
import { missedEvents, presentMissed } from '../deliveries/receivers.ts';
import { time, uuid } from '../http/responses.ts';

export const destinationBody = z
  .strictObject({
    id: uuid,
    endpoint: z.string(),
    username: z.string(),
    version: z.enum(xapiVersions),
    verbs: z.array(z.enum(xapiVerbs)),
    pseudonyms: z.boolean(),
    passingScore: z.number().nullable(),
    status: z.enum(['active', 'paused']),
    missedEvents: missedEvents.optional(),
    pausedReason: z.string().optional().meta({
      description:
        'Why the destination is paused: `owner`, the status with which the LRS rejected Lectern, or `no_statement_ids` if a success had no ids of statements, such as a web page.',
    }),
    createdAt: time,
  })
  .meta({ id: 'XapiDestination' });

export const destinationTest = z
  .strictObject({
    result: z.enum(testResults).meta({
      description:
        '`ok`; `unsure` if the credentials may not read statements: they may still send some; or `failed`.',
    }),
    status: z.int().nullable().meta({ description: 'Of the response; null without one.' }),
    message: z.string().meta({ description: 'For people.' }),
  })
  .meta({ id: 'XapiDestinationTest' });

export const exampleSettings = {
  endpoint: 'https://lrs.example.com/xapi/',
  username: 'lectern',
  version: '1.0.3' as const,
  verbs: [...xapiVerbs],
  pseudonyms: false,
  passingScore: 0.8,
};
export const exampleDestination = {
  id: '3c0a7e52-6a3e-4c0e-9f0e-8a54f0b9d1c7',
  ...exampleSettings,
  status: 'active' as const,
  createdAt: '2026-11-21T09:14:31.027Z',
};

/** Presents a destination. */
export function presentDestination(destination: XapiDestination): z.input<typeof destinationBody> {
  const { _id, endpoint, username, version, verbs, salt, passingScore, paused, missed, createdAt } =
    destination;
  return {
    id: _id,
    ...{ endpoint, username, version, verbs, pseudonyms: salt !== null, passingScore },
    status: paused === null ? 'active' : 'paused',
    ...(paused !== null && { pausedReason: paused.reason }),
    ...(missed !== null && { missedEvents: presentMissed(missed) }),
    createdAt: createdAt.toISOString(),
  };
}
