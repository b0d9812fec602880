import type { LtiPlatform } from '../../api-types.ts';
import type { Tone } from '../../kit/parts.tsx';

export const platformTones: Record<LtiPlatform['status'], Tone> = { active: 'good', pending: 'warn' };
