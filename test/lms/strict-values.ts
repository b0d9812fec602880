import type { ScormVersion, SetValue } from './platform.ts';

/*
 * What the strictest platforms accept. scorm-again accepts more: longer texts, ids with blanks, any answer.
 */

const percent = /^(100|\d{1,2}(\.\d{1,2})?)$/;
const share = /^(1|0(\.\d{1,7})?)$/;
const id = /^[A-Za-z][A-Za-z0-9_]{0,249}[A-Za-z0-9]$/;
const decimal = /^-?\d{1,5}(\.\d{1,7})?$/;
const state = (max: number) => new RegExp(`^[\\w-]{1,${max}}$`);
const line = (max: number) => new RegExp(`^[^\\u0000-\\u001f]{0,${max}}$`);
const short = '[a-z0-9]';
const time12 = /^\d{4}:[0-5]\d:[0-5]\d\.\d\d$/;
const time2004 = /^PT\d+H\d+M\d+(\.\d\d)?S$/;

const objectives = String.raw`cmi\.objectives\.\d+`;
const interactions = String.raw`cmi\.interactions\.\d+`;

/** Patterns of values by patterns of elements; any other element is a fault. */
const patterns: Record<ScormVersion, [element: string, value: RegExp][]> = {
  '1.2': [
    [String.raw`cmi\.core\.exit`, /^suspend$/],
    [String.raw`cmi\.core\.lesson_status`, /^(incomplete|completed|passed|failed)$/],
    [String.raw`cmi\.core\.lesson_location`, /^\d{1,6}$/],
    [String.raw`cmi\.core\.score\.(raw|min|max)`, percent],
    [String.raw`cmi\.core\.session_time`, time12],
    [String.raw`cmi\.suspend_data`, state(4_000)],
    [String.raw`${objectives}\.id`, id],
    [String.raw`${objectives}\.score\.raw`, percent],
    [String.raw`${objectives}\.status`, /^(not attempted|incomplete|completed)$/],
    [String.raw`${interactions}\.(id|objectives\.0\.id)`, id],
    [
      String.raw`${interactions}\.type`,
      /^(choice|fill-in|true-false|matching|sequencing|numeric|performance)$/,
    ],
    [String.raw`${interactions}\.time`, /^[0-2]\d:[0-5]\d:[0-5]\d$/],
    [String.raw`${interactions}\.correct_responses\.0\.pattern`, line(255)],
    [String.raw`${interactions}\.weighting`, decimal],
    [String.raw`${interactions}\.student_response`, line(255)],
    [String.raw`${interactions}\.result`, /^(correct|wrong|neutral|0\.\d{1,4})$/],
    [String.raw`${interactions}\.latency`, time12],
  ],
  '2004': [
    [String.raw`cmi\.exit`, /^suspend$/],
    [String.raw`adl\.nav\.request`, /^suspendAll$/],
    [String.raw`cmi\.completion_status`, /^(incomplete|completed)$/],
    [String.raw`cmi\.success_status`, /^(unknown|passed|failed)$/],
    [String.raw`cmi\.progress_measure`, share],
    [String.raw`cmi\.location`, /^\d{1,6}$/],
    [String.raw`cmi\.score\.scaled`, share],
    [String.raw`cmi\.score\.(raw|min|max)`, percent],
    [String.raw`cmi\.session_time`, time2004],
    [String.raw`cmi\.suspend_data`, state(64_000)],
    [String.raw`${objectives}\.id`, id],
    [String.raw`${objectives}\.description`, line(250)],
    [String.raw`${objectives}\.score\.scaled`, share],
    [String.raw`${objectives}\.completion_status`, /^(not attempted|incomplete|completed)$/],
    [String.raw`${objectives}\.progress_measure`, share],
    [String.raw`${interactions}\.(id|objectives\.0\.id)`, id],
    [
      String.raw`${interactions}\.type`,
      /^(choice|fill-in|long-fill-in|true-false|matching|sequencing|numeric|other)$/,
    ],
    [String.raw`${interactions}\.timestamp`, /^20[0-3]\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d$/],
    [String.raw`${interactions}\.correct_responses\.0\.pattern`, line(4_000)],
    [String.raw`${interactions}\.weighting`, decimal],
    [String.raw`${interactions}\.learner_response`, /^(?!\{)[^]{0,4000}$/],
    [String.raw`${interactions}\.result`, /^(correct|incorrect|neutral|0\.\d{1,4})$/],
    [String.raw`${interactions}\.latency`, time2004],
    [String.raw`${interactions}\.description`, line(250)],
  ],
};

/** What XML lacks, and halves of surrogate pairs, with which no value can become a part of a URL. */
// oxlint-disable-next-line no-control-regex -- these are what XML lacks
const impossible = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u;

/** By the type of the interaction: the form of a response. */
const responses: Record<ScormVersion, Record<string, RegExp>> = {
  '1.2': {
    choice: new RegExp(`^${short}(,${short})*$`),
    sequencing: new RegExp(`^${short}(,${short})*$`),
    matching: new RegExp(String.raw`^${short}\.${short}(,${short}\.${short})*$`),
    'true-false': /^[tf]$/,
    numeric: decimal,
  },
  '2004': {
    choice: new RegExp(String.raw`^${short}(\[,\]${short}){0,35}$`),
    sequencing: new RegExp(String.raw`^${short}(\[,\]${short}){0,35}$`),
    matching: new RegExp(String.raw`^${short}\[\.\]${short}(\[,\]${short}\[\.\]${short})*$`),
    'true-false': /^(true|false)$/,
    numeric: decimal,
  },
};

/** Returns the values that a strict platform rejects, or that scorm-again has rejected. */
export function faultsOf(version: ScormVersion, values: readonly SetValue[]): SetValue[] {
  const interactionTypes = new Map<string, string>();
  return values.filter(({ element, value, isAccepted }) => {
    const [, interaction, name] = /^(cmi\.interactions\.\d+)\.(.*)$/.exec(element) ?? [];
    if (interaction !== undefined && name === 'type') interactionTypes.set(interaction, value);
    const pattern = patterns[version].find(([names]) => new RegExp(`^${names}$`).test(element))?.[1];
    const isResponse = name === 'student_response' || name === 'learner_response';
    const form = isResponse ? responses[version][interactionTypes.get(interaction ?? '') ?? ''] : undefined;
    if (!isAccepted || impossible.test(value)) return true;
    return pattern?.test(value) !== true || form?.test(value) === false;
  });
}
