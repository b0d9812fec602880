import { z } from 'zod';
import { completionRules, packageOptions, presets } from '../lms/package-options.ts';
import type { GivenOptions, PackageOptions } from '../lms/package-options.ts';
import { LecternError } from '../platform/errors.ts';

/** The options of packages for learning platforms, as query parameters and as options of the command line. */
export interface PackageParameter {
  name: keyof GivenOptions;
  /** The allowed values; undefined for a number. */
  values?: readonly string[];
  fault: string;
  description: string;
  /** For the command's help. */
  help: string;
}

const quoted = (values: readonly string[]) => values.map((value) => `"${value}"`).join(' or ');

export const packageParameters: PackageParameter[] = [
  {
    name: 'passMark',
    fault: 'passMark must be a number from 0 to 100 with at most 2 decimals',
    description: 'With a `format`: the score that passes, in percent. Without it, the score decides nothing.',
    help: 'the score that passes a package, in percent',
  },
  {
    name: 'completion',
    values: completionRules,
    fault: `completion must be ${quoted(completionRules)}`,
    description:
      'With a `format`: a learner completes the lesson when every step was on the page (`allSteps`, the default), on ' +
      'finishing the last step (`finish`), or with the pass mark (`passed`).',
    help: 'when a learner completes a package (default: "allSteps")',
  },
  {
    name: 'preset',
    values: presets,
    fault: `preset must be ${quoted(presets)}`,
    description: 'With a `format`: the defaults for a learning platform.',
    help: 'the defaults of a package for a learning platform',
  },
];

const fault = (name: string) => packageParameters.find((parameter) => parameter.name === name)?.fault;

/** The options in a query; each is optional. */
export const packageQuerySchema = z.object({
  passMark: z
    .string(fault('passMark'))
    .regex(/^(100(\.00?)?|\d{1,2}(\.\d{1,2})?)$/, fault('passMark'))
    .optional(),
  completion: z.enum(completionRules, fault('completion')).optional(),
  preset: z.enum(presets as [(typeof presets)[number]], fault('preset')).optional(),
});

export type PackageQuery = z.output<typeof packageQuerySchema>;

/**
 * Returns given options as query parameters in a fixed order, so that equal options give equal text.
 *
 * @throws {LecternError} BAD_REQUEST for invalid options.
 */
export function canonicalQuery(given: Record<string, unknown>): URLSearchParams {
  const parsed = packageQuerySchema.safeParse(given);
  if (!parsed.success) throw badRequest(parsed.error.issues[0]?.message ?? 'The options are invalid');
  const { passMark, completion, preset } = parsed.data;
  if (completion === 'passed' && passMark === undefined) {
    throw badRequest('completion "passed" needs a passMark');
  }
  const query = new URLSearchParams();
  if (passMark !== undefined) query.set('passMark', String(Number(passMark)));
  if (completion !== undefined) query.set('completion', completion);
  if (preset !== undefined) query.set('preset', preset);
  return query;
}

/** Returns the options that the text of {@link canonicalQuery} stands for. @throws for another text. */
export function optionsOfQuery(text: string): PackageOptions {
  const { passMark, ...given } = packageQuerySchema.parse(Object.fromEntries(new URLSearchParams(text)));
  return packageOptions({ ...given, ...(passMark !== undefined && { passMark: Number(passMark) }) });
}

/** Returns the version of Common Cartridge that a platform reads. @param text of {@link canonicalQuery}. */
export function cartridgeVersionOf(text: string): '1.1' | '1.3' {
  // Moodle's importer knows no later version.
  return packageQuerySchema.parse(Object.fromEntries(new URLSearchParams(text))).preset === 'moodle'
    ? '1.1'
    : '1.3';
}

function badRequest(message: string): LecternError {
  return new LecternError('BAD_REQUEST', message);
}
