import { createRequire } from 'node:module';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { contentType } from 'mime-types';
import { serve } from '../support/serve.ts';

/*
 * A learning platform for tests: it serves a package and plays it with scorm-again as run-time. Each commit goes to the
 * server as a beacon, and the next launch of the same learner begins with the last one.
 */

const require = createRequire(import.meta.url);

/** A call of SetValue, and whether the run-time accepted it. */
export interface SetValue {
  element: string;
  value: string;
  isAccepted: boolean;
}

/** What the platform knows about a learner. */
export interface LearnerRecord {
  /** The data model at the last commit. */
  cmi: Record<string, unknown>;
  /** All values set so far, in order. */
  values: SetValue[];
  /** The names of all other calls of the API, in order. */
  calls: string[];
}

export type Platform = Awaited<ReturnType<typeof startPlatform>>;

export interface LaunchOptions {
  /** '' as platforms that do not know modes. */
  mode?: 'normal' | 'browse' | 'review' | '';
  /** Elements of the data model that the platform sets, such as the mastery score. */
  given?: Record<string, string>;
  /** Whether the API returns numbers, `String` objects and `True`, as some platforms do. */
  isLoose?: boolean;
  /**
   * Whether the platform decides passed or failed at each exit by the mastery score of the manifest, as Moodle does in
   * SCORM 1.2.
   */
  decidesAtExit?: boolean;
  /** How the package is shown: in a frame, two frames deep, or in a popup. */
  layout?: 'frame' | 'deep' | 'popup';
}

const scripts = { '1.2': 'scorm12', '2004': 'scorm2004' } as const;

export type ScormVersion = keyof typeof scripts;

/** Starts a platform for the files of a package, until the end of the test. */
export async function startPlatform(version: ScormVersion, files: ReadonlyMap<string, Buffer>) {
  const records = new Map<string, LearnerRecord>();
  const recordOf = (learner: string): LearnerRecord => {
    const record = records.get(learner) ?? { cmi: {}, values: [], calls: [] };
    records.set(learner, record);
    return record;
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://platform');
    const learner = url.searchParams.get('learner') ?? '';
    const send = (type: string, body: string | Buffer) =>
      response.writeHead(200, { 'content-type': contentType(type) || 'text/plain' }).end(body);
    if (url.pathname === '/commit') {
      const { cmi, values, calls } = JSON.parse(await text(request)) as LearnerRecord;
      const record = recordOf(learner);
      record.cmi = cmi;
      record.values.push(...values);
      record.calls.push(...calls);
      response.writeHead(204).end();
    } else if (url.pathname.startsWith('/run-time/')) {
      send('js', await readFile(require.resolve(`scorm-again/${url.pathname.slice('/run-time/'.length)}`)));
    } else if (url.pathname === '/launch') {
      const options = JSON.parse(url.searchParams.get('options') ?? '{}') as LaunchOptions;
      const [, mastery] = /<adlcp:masteryscore>(.*?)</.exec(String(files.get('imsmanifest.xml'))) ?? [];
      if (options.decidesAtExit && mastery !== undefined) {
        options.given = { 'cmi.student_data.mastery_score': mastery, ...options.given };
      }
      send('html', launchPage(version, learner, options, recordOf(learner).cmi));
    } else if (url.pathname === '/deep') {
      send('html', framePage('/package/index.html'));
    } else {
      const path = decodeURIComponent(url.pathname.replace('/package/', ''));
      const file = files.get(path);
      if (file === undefined) response.writeHead(404).end();
      else send(path.slice(path.lastIndexOf('.') + 1), file);
    }
  }

  const own = await serve((request, response) => void handle(request, response));
  return {
    /** Returns the URL that launches the package for a learner. */
    launchUrl(learner: string, options: LaunchOptions = {}) {
      const query = new URLSearchParams({ learner, options: JSON.stringify(options) });
      return `${own}/launch?${query.toString()}`;
    },
    record: recordOf,
  };
}

const framePage = (src: string) =>
  `<!doctype html><title>Platform</title><style>body{margin:0}iframe{width:100vw;height:100vh;border:0}</style>` +
  `<iframe name="package" src="${src}"></iframe>`;

/** The page of the platform: the run-time, and the package in a frame or a popup. */
function launchPage(
  version: ScormVersion,
  learner: string,
  { mode = 'normal', given = {}, layout = 'frame', isLoose = false, decidesAtExit = false }: LaunchOptions,
  cmi: Record<string, unknown>,
): string {
  const name = version === '1.2' ? 'Scorm12API' : 'Scorm2004API';
  const object = version === '1.2' ? 'API' : 'API_1484_11';
  const src = layout === 'deep' ? '/deep' : '/package/index.html';
  const state = JSON.stringify({ version, learner, mode, given, cmi }).replaceAll('<', '\\u003c');
  return `<!doctype html><meta charset="utf-8">
<script src="/run-time/${scripts[version]}/min"></script>
<script>
const state = ${state};
const api = new ${name}({ autocommit: false, logLevel: 5 });
const old = state.version === '1.2';
const launch = old
  ? { core: { student_id: state.learner, lesson_mode: state.mode || 'normal', credit: 'credit' } }
  : { learner_id: state.learner, mode: state.mode || 'normal', credit: 'credit' };
${storedState}
for (const [element, value] of Object.entries(state.given)) api.cmi && setGiven(element, value);
const pending = { values: [], calls: [] };
const prefix = old ? 'LMS' : '';
const wrap = (name, note) => {
  const original = api[prefix + name].bind(api);
  api[prefix + name] = api['lms' + name] = (...given) => { const result = original(...given); note(given, result); return result; };
};
wrap('SetValue', ([element, value], result) =>
  pending.values.push({ element, value, isAccepted: String(result) === 'true' }));
const send = (call) => {
  pending.calls.push(call);
  const cmi = JSON.parse(api.renderCMIToJSONString()).cmi;
  navigator.sendBeacon('/commit?learner=' + encodeURIComponent(state.learner), JSON.stringify({ cmi, ...pending }));
  pending.values = []; pending.calls = [];
};
wrap('Initialize', () => pending.calls.push('Initialize'));
wrap('Commit', () => send('Commit'));
const finish = old ? 'Finish' : 'Terminate';
${decidesAtExit ? decidingAtExit : ''}
wrap(finish, () => send('Terminate'));
if (state.mode === '') {
  const get = api[prefix + 'GetValue'].bind(api);
  api[prefix + 'GetValue'] = (element) => (/mode$/.test(element) ? '' : get(element));
}
${isLoose ? looseApi : ''}
window.${object} = api;
</script>
${
  layout === 'popup'
    ? `<button onclick="window.open('/package/index.html', 'package', 'width=900,height=700')">Open</button>`
    : framePage(src)
}`;
}

/** Decides passed or failed before the session ends, as Moodle's LMSFinish does. */
const decidingAtExit = `
const end = api.LMSFinish.bind(api);
api.LMSFinish = (argument) => {
  const { core, student_data: { mastery_score: mastery } } = api.cmi;
  if (core.lesson_status === 'not attempted') core.lesson_status = 'completed';
  if (core.lesson_mode === 'normal' && core.credit === 'credit' && mastery !== '' && core.score.raw !== '')
    core.lesson_status = Number(core.score.raw) >= Number(mastery) ? 'passed' : 'failed';
  send('Finish');
  return end(argument);
};`;

/** Makes the API return values as Moodle and others do. */
const looseApi = `
for (const name of ['Initialize', 'GetValue', 'SetValue', 'Commit', old ? 'Finish' : 'Terminate', 'GetLastError']) {
  const strict = api[prefix + name].bind(api);
  api[prefix + name] = (...given) => {
    const result = String(strict(...given));
    if (result === 'true') return name === 'SetValue' ? 1 : 'True';
    return result !== '' && Number.isFinite(Number(result)) ? Number(result) : new String(result);
  };
}`;

/** Loads the stored data model before the package begins, as a platform does. */
const storedState = `
const stored = state.cmi;
const merged = old
  ? { ...stored, core: { ...stored.core, ...launch.core } }
  : { ...stored, ...launch };
const suspended = old ? stored.core?.exit === 'suspend' : stored.exit === 'suspend';
if (old) { merged.core.entry = suspended ? 'resume' : 'ab-initio'; delete merged.core.exit; delete merged.core.session_time; }
else { merged.entry = suspended ? 'resume' : 'ab-initio'; delete merged.exit; delete merged.session_time; }
if (!suspended) delete merged.suspend_data;
api.loadFromJSON(merged);
const setGiven = (element, value) => {
  const parts = element.split('.').slice(1);
  const last = parts.pop();
  parts.reduce((part, key) => part[key], api.cmi)[last] = value;
};`;
