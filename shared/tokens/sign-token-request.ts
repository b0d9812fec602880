import { z } from 'zod';
import { LecternError } from '../platform/errors.ts';
import { objectMembers } from '../platform/json-text.ts';
import { bodyFault, objectFault } from '../platform/unknown-names.ts';

export const defaultTokenSeconds = 7200;
export const maxTokenSeconds = 86_400;
export const maxUserAttributesBytes = 8192;

const timeoutFault = `timeout must be an integer between 1 and ${maxTokenSeconds}`;
const uuid = (fault: string) => z.guid(fault).toLowerCase();

/** An integrator's learner id: 1 to 255 characters, without control characters and lone surrogates. */
export const learnerIdPattern = /^[^\p{Cc}\p{Cs}]{1,255}$/u;

/** The body of a token request; faults are reported in the order of the fields. */
export const signTokenSchema = z.strictObject(
  {
    lessonId: uuid('Lesson ID must be a UUID').meta({ description: 'The lesson to include.' }),
    versionId: uuid('Version ID must be a UUID').optional().meta({
      description:
        'The published version to pin. Without it, the newest published one is played at each load.',
    }),
    learnerId: z
      .string('learnerId is required')
      .min(1, 'learnerId is required')
      .regex(learnerIdPattern, 'learnerId must be 1 to 255 characters without control characters')
      .meta({
        description:
          'Your anonymous identifier for the learner: 1 to 255 characters, no control characters, no personally ' +
          'identifying data. Progress is kept under it. Avoid `.` and `..`: most clients resolve them in paths.',
      }),
    userAttributes: z
      .record(z.string(), z.unknown(), 'userAttributes must be an object')
      .optional()
      .meta({
        description: `Any JSON object of at most ${maxUserAttributesBytes} bytes, without personally identifying data.`,
      }),
    timeout: z
      .int(timeoutFault)
      .min(1, timeoutFault)
      .max(maxTokenSeconds, timeoutFault)
      .default(defaultTokenSeconds)
      .meta({ description: 'Seconds until the token expires.' }),
  },
  { error: objectFault },
);

const attributesFault = `userAttributes must be at most ${maxUserAttributesBytes} bytes as JSON`;
/** The error texts of {@link parseSignTokenRequest} that the schema lacks. */
export const signTokenFaults = [
  'Request body has an unknown field "versionID". Did you mean "versionId"?',
  bodyFault,
  attributesFault,
];

export interface SignTokenRequest {
  lessonId: string;
  versionId: string | null;
  learnerId: string;
  /** The text of a JSON object, unchanged. */
  userAttributes: string;
  /** The time until expiry, in seconds. */
  timeout: number;
}

/** Parses the JSON body of a token request. @throws {LecternError} INVALID_CONTENT with the first fault. */
export function parseSignTokenRequest(text: string): SignTokenRequest {
  const parsed = signTokenSchema.safeParse(JSON.parse(text));
  const attributes = text.trimStart().startsWith('{') ? objectMembers(text).get('userAttributes') : undefined;
  const userAttributes = attributes ?? '{}';
  const tooLarge = Buffer.byteLength(userAttributes) > maxUserAttributesBytes;
  const [fault] = parsed.error?.issues ?? [];
  // A schema cannot check the size of the JSON text. This fault comes before those of later fields.
  if (tooLarge && (fault === undefined || fault.path[0] === 'timeout')) {
    throw new LecternError('INVALID_CONTENT', attributesFault);
  }
  if (!parsed.success) {
    throw new LecternError('INVALID_CONTENT', fault?.message ?? bodyFault);
  }
  const { versionId = null, ...rest } = parsed.data;
  return { ...rest, versionId, userAttributes };
}
