import { recordOf } from '../../shared/lessons/json-values.ts';
import { passShare } from '../../shared/lms/package-options.ts';
import type { PackageOptions } from '../../shared/lms/package-options.ts';
import type { LessonMap } from '../../shared/lms/lesson-map.ts';
import { decodeState, encodeState } from '../../shared/lms/state-codec.ts';
import { widgetKey } from '../../shared/progress/outline.ts';
import type { LessonEvent } from '../lesson/options.ts';
import type { AnswerItem } from '../lesson/state.ts';
import { Lrs, openSession, storeSession } from './cmi5-launch.ts';
import type { LaunchParameters } from './cmi5-launch.ts';
import { Cmi5Outbox } from './cmi5-outbox.ts';
import { answeredStatement, cmi5Statement, percentOf, progressedStatement } from './cmi5-statements.ts';
import type { Cmi5Verb } from './cmi5-statements.ts';
import { reportOf } from './lesson-report.ts';
import type { LessonReport } from './lesson-report.ts';
import type { Tracker, TrackerEvents } from './tracker.ts';

/** Lectern's state document of a registration. */
interface Cmi5State {
  /** A result of `encodeState`. */
  state: string;
  /** The verbs that the platform accepts once in a registration, and has got. */
  sent: { completed: boolean; passed: boolean };
}

const stateId = 'lectern';
/** How long an exit waits for the platform to take everything. */
const exitTimeoutMs = 5_000;

interface Cmi5Setup {
  map: LessonMap;
  options: PackageOptions;
  maxStateCharacters: number;
  /** The language of the lesson: a BCP 47 tag. */
  language: string;
}

/** Begins or continues a session; null if no platform has launched the page, or its session has ended. */
export async function beginCmi5(
  launch: LaunchParameters | null,
  setup: Cmi5Setup,
  events: TrackerEvents,
): Promise<Tracker | null> {
  if (launch === null) return null;
  try {
    return await begin(launch, setup, events);
  } catch {
    return null;
  }
}

async function begin(
  launch: LaunchParameters,
  { map, options, maxStateCharacters, language }: Cmi5Setup,
  events: TrackerEvents,
): Promise<Tracker | null> {
  const session = await openSession(launch);
  if (session.isTerminated) return null;
  const lrs = new Lrs(launch, session.token);
  const data = await lrs.launchData();
  const preferences = await lrs.learnerPreferences();
  const stored = await lrs.state(stateId);
  // A state that cannot be read now must not be replaced by a new one.
  if (!stored.ok && stored.status !== 404) throw new Error(`The state returned status ${stored.status}`);
  const document = stored.ok ? readState(await stored.json().catch(() => null)) : null;
  const decoded = decodeState(map, document?.state ?? '');
  const sent = { completed: document?.sent.completed === true, passed: document?.sent.passed === true };
  const reported = decoded?.reported ?? { ...sent };
  const passMark = data.masteryScore ?? passShare(options);
  const mode = data.launchMode === 'Normal' ? 'normal' : data.launchMode === 'Browse' ? 'browse' : 'review';
  const context = { launch, data, language };
  const outbox = new Cmi5Outbox(lrs, { stateId, stored }, events);
  const sinceMs = () => Date.now() - session.startedAt;
  let lastReport: LessonReport | undefined;
  let percent = percentOf((decoded?.state.progressData.visited.length ?? 0) / Math.max(1, map.steps.length));
  let isOpen = true;
  let isLeaving = false;

  const send = (verb: Cmi5Verb, report?: LessonReport) =>
    outbox.add(cmi5Statement(context, verb, { report, sinceMs: sinceMs() }));

  async function close(): Promise<void> {
    isOpen = false;
    // A session has either passed or failed, so only its end can tell.
    if (lastReport?.success === 'failed' && !sent.passed) send('failed', lastReport);
    send('terminated');
    session.isTerminated = true;
    storeSession(launch.fetchUrl, session);
    await outbox.flushAtEnd();
  }

  async function leave(): Promise<void> {
    isLeaving = true;
    await Promise.race([outbox.flush(), new Promise((resolve) => setTimeout(resolve, exitTimeoutMs))]);
    // The learner may have closed the page meanwhile.
    if (isOpen) await close();
    if (data.returnUrl !== null) location.assign(data.returnUrl);
  }

  if (!session.isInitialized) {
    send('initialized');
    session.isInitialized = true;
    storeSession(launch.fetchUrl, session);
  }

  return {
    state: decoded?.state,
    mode,
    ...preferences,
    update(event: LessonEvent, item?: AnswerItem) {
      if (!isOpen || isLeaving || mode !== 'normal') return;
      const report = reportOf(map, event, { options, passMark, reported });
      lastReport = report;
      reported.completed ||= report.completed;
      reported.passed ||= report.success === 'passed';
      if (item !== undefined) {
        const position = map.positions.get(widgetKey(item.stepId, item.widgetId));
        const question = position === undefined ? undefined : map.questions[position];
        if (question !== undefined) outbox.add(answeredStatement(context, question, item));
      }
      if (percentOf(report.progress) > percent && !report.completed)
        outbox.add(progressedStatement(context, report));
      percent = Math.max(percent, percentOf(report.progress));
      if (report.completed && !sent.completed) send('completed');
      if (report.success === 'passed' && !sent.passed) send('passed', report);
      sent.completed ||= report.completed;
      sent.passed ||= report.success === 'passed';
      const { text } = encodeState(map, event, reported, maxStateCharacters);
      outbox.setState({ state: text, sent } satisfies Cmi5State);
    },
    flush() {
      if (isOpen) void outbox.flush();
    },
    end(isExit) {
      if (!isOpen) return;
      if (!isExit) void close();
      else if (!isLeaving) void leave();
    },
  };
}

function readState(value: unknown): Cmi5State | null {
  const { state, sent } = recordOf(value);
  const { completed, passed } = recordOf(sent);
  if (typeof state !== 'string') return null;
  return { state, sent: { completed: completed === true, passed: passed === true } };
}
