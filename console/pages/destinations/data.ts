import type { XapiDestination } from '../../api-types.ts';
import type { Tone } from '../../kit/parts.tsx';

export type Verb = XapiDestination['verbs'][number];

/** The verbs in the order in which a lesson causes them. */
export const verbs: readonly Verb[] = [
  'initialized',
  'answered',
  'progressed',
  'completed',
  'passed',
  'failed',
  'terminated',
];

export const destinationTones: Record<XapiDestination['status'], Tone> = { active: 'good', paused: 'warn' };
