/* The requirements of cmi5 for the statements of an assignable unit. */

export interface Session {
  id: string;
  registration: string;
  token: string;
  actor: object;
  activityId: string;
  launchData: { contextTemplate: Json; launchMode: string; masteryScore?: number };
  settings: {
    fetchRedirect?: string;
    stateStatus?: number;
    refusedVerb?: string;
    loginPage?: 'statements' | undefined;
  };
  isFetched: boolean;
  hasReadLaunchData: boolean;
  hasReadPreferences: boolean;
}

type Json = Record<string, unknown>;

export interface Statement {
  id?: string;
  timestamp?: string;
  actor?: Json;
  verb: { id: string };
  object: { id: string };
  result?: {
    completion?: boolean;
    success?: boolean;
    duration?: string;
    score?: { scaled?: number; raw?: number; min?: number; max?: number };
    extensions?: Json;
  };
  context?: {
    registration?: string;
    contextActivities?: Record<string, { id: string }[]>;
    extensions?: Json;
  };
  /** The session that the platform has recorded it in. */
  session?: string;
}

const cmi5 = 'https://w3id.org/xapi/cmi5/context';
const defined = ['initialized', 'completed', 'passed', 'failed', 'terminated'];

export const verbOf = ({ verb }: Statement) => verb.id.slice(verb.id.lastIndexOf('/') + 1);

/**
 * Returns the id of the first requirement that a statement violates; null for a valid one.
 *
 * @param earlier the statements of the registration; `stored` of them came with earlier requests
 */
export function cmi5Violation(
  statement: Statement,
  session: Session,
  { earlier, stored }: { earlier: readonly Statement[]; stored: number },
): string | null {
  const { context, result = {} } = statement;
  const { masteryScore, launchMode, contextTemplate } = session.launchData;
  const categories = (context?.contextActivities?.category ?? []).map(({ id }) => id);
  const isDefined = categories.includes(`${cmi5}/categories/cmi5`);
  const verb = verbOf(statement);
  const inSession = earlier.filter(({ session: id }) => id === session.id);
  // As ADL's CATAPULT does: it accepts no other statement in the request that initializes a session.
  const isInitialized = earlier.slice(0, stored).some(({ session: id }) => id === session.id);
  const cmi5In = (list: readonly Statement[]) =>
    list
      .filter(({ context: other }) =>
        (other?.contextActivities?.category ?? []).some(({ id }) => id === `${cmi5}/categories/cmi5`),
      )
      .map(verbOf);
  const [sessionVerbs, allVerbs] = [cmi5In(inSession), cmi5In(earlier)];
  const isJudged = verb === 'passed' || verb === 'failed';
  const scaled = result.score?.scaled;
  const templateExtensions = contextTemplate.extensions as Json;
  const templateActivities = contextTemplate.contextActivities as Record<string, { id: string }[]>;
  const rules: [id: string, isViolated: boolean][] = [
    ['11.0.0.0-3', !session.hasReadPreferences],
    ['10.2.1.0-4', !session.hasReadLaunchData],
    [
      '9.1.0.0-1',
      !/^[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(statement.id ?? ''),
    ],
    ['9.7.0.0-2', !/Z$/.test(statement.timestamp ?? '')],
    ['8.1.3.0-3', JSON.stringify(statement.actor) !== JSON.stringify(session.actor)],
    ['9.6.1.0-1', context?.registration !== session.registration],
    [
      '9.6.3.1-4',
      Object.entries(templateExtensions).some(([name, value]) => context?.extensions?.[name] !== value),
    ],
    [
      '10.2.1.0-7',
      Object.entries(templateActivities).some(([name, list]) =>
        list.some(({ id }, index) => context?.contextActivities?.[name]?.[index]?.id !== id),
      ),
    ],
    ['9.3.0.0-4', !isInitialized && !(isDefined && verb === 'initialized')],
    ['9.3.0.0-5', sessionVerbs.includes('terminated')],
    ['10.2.2.0-2', launchMode !== 'Normal' && !(isDefined && ['initialized', 'terminated'].includes(verb))],
    ['9.6.2.2-2', !isDefined && categories.includes(`${cmi5}/categories/moveon`)],
    [
      '9.5.1.0-3',
      result.score?.raw !== undefined && (result.score.min === undefined || result.score.max === undefined),
    ],
  ];
  const ofDefined: [id: string, isViolated: boolean][] = [
    ['9.3.0.0-1', !defined.includes(verb)],
    ['8.1.5.0-6', statement.object.id !== session.activityId],
    ['9.3.0.0-2', sessionVerbs.includes(verb)],
    ['9.3.0.0-3', isJudged && sessionVerbs.some((other) => other === 'passed' || other === 'failed')],
    ['9.3.0.0-6', verb === 'completed' && allVerbs.includes('completed')],
    ['9.3.0.0-7', verb === 'passed' && allVerbs.includes('passed')],
    ['9.3.0.0-8', verb === 'failed' && allVerbs.includes('passed')],
    [
      '9.3.4.0-2',
      verb === 'passed' && masteryScore !== undefined && scaled !== undefined && scaled < masteryScore,
    ],
    [
      '9.3.5.0-2',
      verb === 'failed' && masteryScore !== undefined && scaled !== undefined && scaled >= masteryScore,
    ],
    ['9.5.1.0-2', !isJudged && result.score !== undefined],
    ['9.5.2.0-1', verb === 'passed' && result.success !== true],
    ['9.5.2.0-2', verb === 'failed' && result.success !== false],
    ['9.5.2.0-3', !isJudged && result.success !== undefined],
    ['9.5.3.0-1', verb === 'completed' && result.completion !== true],
    ['9.5.3.0-2', verb !== 'completed' && result.completion !== undefined],
    ['9.5.4.1-1', verb === 'terminated' && result.duration === undefined],
    ['9.5.4.1-2', verb === 'completed' && result.duration === undefined],
    ['9.5.4.1-3', verb === 'passed' && result.duration === undefined],
    ['9.5.4.1-4', verb === 'failed' && result.duration === undefined],
    ['9.6.2.2-1', categories.includes(`${cmi5}/categories/moveon`) !== (isJudged || verb === 'completed')],
    [
      '9.6.3.2-2',
      isJudged &&
        masteryScore !== undefined &&
        context?.extensions?.[`${cmi5}/extensions/masteryscore`] !== masteryScore,
    ],
  ];
  return [...rules, ...(isDefined ? ofDefined : [])].find(([, isViolated]) => isViolated)?.[0] ?? null;
}
