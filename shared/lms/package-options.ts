/*
 * The options of packages for learning platforms (SCORM, cmi5). The player reads them in the package, so this module
 * imports nothing that a browser lacks.
 */

/**
 * When a learner has completed the lesson: `allSteps` when every step was on the page, `finish` when the learner
 * finishes the last step, `passed` when the score reaches the pass mark.
 */
export const completionRules = ['allSteps', 'finish', 'passed'] as const;

export type CompletionRule = (typeof completionRules)[number];

/** The options of a package's run-time. */
export interface PackageOptions {
  /** The points that a learner needs to pass, as a percentage of all points; null if the score does not decide. */
  passMark: number | null;
  completion: CompletionRule;
  /** Whether a missed pass mark is reported as failed; otherwise the result stays unknown. */
  reportsFailure: boolean;
  /**
   * Whether the manifest of SCORM 1.2 has the pass mark. Many platforms then decide passed or failed from the score at
   * each exit, before the lesson is completed.
   */
  declaresPassMark: boolean;
  /** Minutes between two commits without a change, for platforms whose sessions expire; null for none. */
  keepAliveMinutes: number | null;
}

/** Returns the pass mark as a share, without digits that binary fractions add; null if the score does not decide. */
export function passShare({ passMark }: Pick<PackageOptions, 'passMark'>): number | null {
  return passMark === null ? null : Number((passMark / 100).toFixed(4));
}

const standard: PackageOptions = {
  passMark: null,
  completion: 'allSteps',
  reportsFailure: true,
  declaresPassMark: true,
  keepAliveMinutes: null,
};

/** Defaults for platforms (docs/export/platforms.md has the reasons). A change needs another `packageFormat`. */
const presetOptions = {
  moodle: {},
  canvas: {},
  blackboard: {},
  brightspace: {},
  // Sessions expire after 30 idle minutes.
  sap: { keepAliveMinutes: 4 },
  // Sets the grade to 0 when a package reports `failed`.
  openedx: { reportsFailure: false },
  cornerstone: {},
} satisfies Record<string, Partial<PackageOptions>>;

export type Preset = keyof typeof presetOptions;

export const presets = Object.keys(presetOptions) as Preset[];

/** Options as a client gives them; undefined for the preset's default. */
export interface GivenOptions {
  passMark?: number;
  completion?: CompletionRule;
  preset?: Preset;
}

/** Returns all options of a package. */
export function packageOptions({ preset, ...given }: GivenOptions): PackageOptions {
  const defaults: PackageOptions = { ...standard, ...(preset && presetOptions[preset]) };
  const { passMark = defaults.passMark, completion = defaults.completion } = given;
  return { ...defaults, passMark, completion, declaresPassMark: preset === undefined };
}
