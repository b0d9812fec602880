import type { LessonMap } from '../../shared/lms/lesson-map.ts';
import { passShare } from '../../shared/lms/package-options.ts';
import type { PackageOptions } from '../../shared/lms/package-options.ts';
import { decodeState, encodeState } from '../../shared/lms/state-codec.ts';
import type { Reported } from '../../shared/lms/state-codec.ts';
import { sectionId } from '../../shared/lms/ids.ts';
import { widgetKey } from '../../shared/progress/outline.ts';
import type { LessonEvent } from '../lesson/options.ts';
import type { AnswerItem } from '../lesson/state.ts';
import { reportOf } from './lesson-report.ts';
import type { LessonReport } from './lesson-report.ts';
import type { ScormApi, ScormVersion } from './scorm-api.ts';
import {
  interactionOf,
  objectiveOf,
  passMarkOf,
  scoreOf,
  sessionElements,
  sessionTime,
  statusElements,
  statusOf,
} from './scorm-elements.ts';
import type { Elements } from './scorm-elements.ts';
import type { Tracker, TrackerEvents } from './tracker.ts';

export interface ScormSetup {
  version: ScormVersion;
  map: LessonMap;
  options: PackageOptions;
  /** The limit of `suspend_data`. */
  maxStateCharacters: number;
}

/** Platforms send each commit as a request, some of them synchronously. */
const commitIntervalMs = 1_000;
const commitRetryMs = 2_000;
const maxCommitRetries = 5;
/** The number of objectives that SCORM 2004 guarantees. */
const maxObjectives = 100;

/** Begins a session; null if the platform rejects it. */
export function beginScorm(api: ScormApi, setup: ScormSetup, events: TrackerEvents): Tracker | null {
  const { version, map, options } = setup;
  const names = sessionElements[version];
  if (!api.initialize()) return null;
  const startedAt = Date.now();
  const mode = modeOf(api.get(names.mode));
  const stored = decodeState(map, api.get('cmi.suspend_data'));
  const earlier = statusElements[version].map((element) => api.get(element));
  const reported: Reported = {
    completed: stored?.reported.completed === true || earlier.some((status) => status === 'completed'),
    passed: stored?.reported.passed === true || earlier.includes('passed'),
  };
  // In SCORM 1.2, `passed` also means that the lesson is completed.
  if (version === '1.2' && reported.passed) reported.completed = true;
  const passMark = passMarkOf(version, api.get(names.passMark)) ?? passShare(options);
  const canRecord = {
    objectives: hasCollection(api, 'cmi.objectives'),
    interactions: hasCollection(api, 'cmi.interactions'),
  };
  const objectives = canRecord.objectives ? objectiveIndexes(api) : new Map<string, number>();
  const interactions = new Map<string, number>();
  let interactionCount = Number(api.get('cmi.interactions._count')) || 0;
  let stepShownAt = Date.now();
  let shownStep = '';
  let isOpen = true;

  const write = (elements: Elements) => {
    for (const [element, value] of elements) api.set(element, value);
  };

  function recordObjectives({ sections }: LessonReport): void {
    if (!canRecord.objectives) return;
    for (const section of sections.slice(0, maxObjectives)) {
      const id = sectionId(section.id);
      const index = objectives.get(id) ?? objectives.size;
      const [first, ...rest] = objectiveOf(version, index, section);
      if (first === undefined || !api.set(...first)) {
        canRecord.objectives = false;
        return;
      }
      objectives.set(id, index);
      write(rest);
    }
  }

  /** An answer replaces the one to the same question in this session, and follows those of earlier sessions. */
  function recordAnswer(item: AnswerItem): void {
    const key = widgetKey(item.stepId, item.widgetId);
    const position = map.positions.get(key);
    const question = position === undefined ? undefined : map.questions[position];
    if (question === undefined || !canRecord.interactions) return;
    const index = interactions.get(key) ?? interactionCount;
    const section = map.sections[question.sectionIndex]?.id ?? '';
    const latencyMs = Date.now() - stepShownAt;
    const [first, ...rest] = interactionOf(version, index, { question, section, item, latencyMs });
    if (first === undefined || !api.set(...first)) {
      canRecord.interactions = false;
      return;
    }
    interactions.set(key, index);
    interactionCount = Math.max(interactionCount, index + 1);
    write(rest);
  }

  const commits = commitQueue(api, events);
  const keepAlive =
    options.keepAliveMinutes === null || mode !== 'normal'
      ? undefined
      : setInterval(() => commits.now(), options.keepAliveMinutes * 60_000);

  if (mode === 'normal') {
    // Before anything else: a connection that is cut leaves a session that platforms resume.
    api.set(names.exit, 'suspend');
    if (!reported.completed && !reported.passed && !earlier.includes('failed')) {
      api.set(statusElements[version][0], 'incomplete');
    }
    commits.now();
  }

  return {
    state: stored?.state ?? stateAt(map, api.get(names.location)),
    mode,
    update(event: LessonEvent, item?: AnswerItem) {
      if (!isOpen || mode !== 'normal') return;
      if (event.stepId !== shownStep) stepShownAt = Date.now();
      shownStep = event.stepId;
      const report = reportOf(map, event, { options, passMark, reported });
      reported.completed ||= report.completed;
      reported.passed ||= report.success === 'passed';
      if (item !== undefined) recordAnswer(item);
      recordObjectives(report);
      const { text } = encodeState(map, event, reported, setup.maxStateCharacters);
      write([
        ['cmi.suspend_data', text],
        [names.location, String(map.steps.findIndex(({ id }) => id === event.stepId))],
        ...scoreOf(version, report),
        ...statusOf(version, report),
      ]);
      commits.soon();
    },
    flush() {
      if (!isOpen || mode !== 'normal') return;
      api.set(names.sessionTime, sessionTime(version, Date.now() - startedAt));
      commits.now();
    },
    end(isExit) {
      if (!isOpen) return;
      if (mode === 'normal') {
        api.set(names.sessionTime, sessionTime(version, Date.now() - startedAt));
        if (isExit && version === '2004') api.set('adl.nav.request', 'suspendAll');
        commits.now();
      }
      isOpen = false;
      clearInterval(keepAlive);
      commits.stop();
      api.terminate();
    },
  };
}

/** Some platforms return '' for a normal session. */
function modeOf(value: string): Tracker['mode'] {
  return value === 'browse' || value === 'review' ? value : 'normal';
}

function hasCollection(api: ScormApi, name: string): boolean {
  return api.get(`${name}._children`) !== '';
}

/** Returns the objectives that the platform has already, such as the one of the pass mark, by id. */
function objectiveIndexes(api: ScormApi): Map<string, number> {
  const count = Number(api.get('cmi.objectives._count')) || 0;
  return new Map(
    Array.from({ length: count }, (_, index) => [api.get(`cmi.objectives.${index}.id`) || `${index}`, index]),
  );
}

/** Returns a state with the position only, for a platform that kept nothing else. */
function stateAt({ steps }: LessonMap, location: string): unknown {
  const step = /^\d+$/.test(location) ? steps[Number(location)] : undefined;
  return step && { sectionIndex: step.sectionIndex, stepIndex: step.stepIndex, stepId: step.id };
}

/** Commits at once and then at most once a second. Retries failed commits, and reports when they keep failing. */
function commitQueue(api: ScormApi, { onRecording }: TrackerEvents) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastAt = 0;
  let failures = 0;

  function now(): void {
    clearTimeout(timer);
    timer = undefined;
    lastAt = Date.now();
    if (api.commit()) {
      if (failures > maxCommitRetries) onRecording(true);
      failures = 0;
      return;
    }
    failures += 1;
    if (failures === maxCommitRetries + 1) onRecording(false);
    timer = setTimeout(now, commitRetryMs);
  }

  return {
    now,
    soon() {
      if (timer !== undefined) return;
      const waitMs = lastAt + commitIntervalMs - Date.now();
      if (waitMs <= 0) now();
      else timer = setTimeout(now, waitMs);
    },
    stop() {
      clearTimeout(timer);
    },
  };
}
