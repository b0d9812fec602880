import { isFinalExport, prepare, readArchive, sha256 } from './archive.ts';
import type { DownloadOptions } from './archive.ts';
import type { LessonImport } from './api.ts';
import { download } from './download.ts';
import { follow } from './follow.ts';
import { readChunks } from './http.ts';
import type { Body, CreateOptions, Http, Parts, Query, RequestOptions, Route } from './http.ts';
import { list } from './pages.ts';
import { upload } from './upload.ts';
import type { ImportOptions } from './upload.ts';

/* The methods of the client, by resource. They return what the endpoints return: the API reference describes it. */

const oneVersion = '/api/lessons/{lessonId}/versions/{versionId}';
const oneDraft = '/api/lessons/{lessonId}/draft';
const oneFile = '/api/media/{fileId}';
const oneImport = '/api/lessons/imports/{importId}';
const ofLearners = '/api/lessons/{lessonId}/learners';

/** Yields the bytes of a body of any length. */
async function* bytesOf(http: Http, route: Route, parts: Parts, options?: RequestOptions) {
  yield* readChunks(await http.open(route, parts, options), { signal: options?.signal });
}

export const tokens = (http: Http) => ({
  /** Signs a token that lets one learner load one lesson. */
  sign: (token: Body<'POST /api/public/sign-token'>, options?: RequestOptions) =>
    http.json('POST /api/public/sign-token', { json: token }, options),
});

export const lessons = (http: Http) => ({
  /** Lists lessons, the newest first. */
  list: (query: Query<'GET /api/lessons'> = {}, options?: RequestOptions) =>
    list(http, 'GET /api/lessons', { query }, (page) => page.lessons, options),
  retrieve: (lessonId: string, options?: RequestOptions) =>
    http.json('GET /api/lessons/{lessonId}', { params: { lessonId } }, options),
  /** Lists the versions of a lesson, the newest first. */
  versions: (lessonId: string, options?: RequestOptions) =>
    list(
      http,
      'GET /api/lessons/{lessonId}/versions',
      { params: { lessonId } },
      (page) => page.versions,
      options,
    ),
  /** Counts active learners and the links of learning platforms. */
  uses: (lessonId: string, options?: RequestOptions) =>
    http.json('GET /api/lessons/{lessonId}/uses', { params: { lessonId } }, options),
  /** Returns scores, reached steps, and an analysis of each question; or reports that a worker is counting them. */
  statistics: (
    lessonId: string,
    query: Query<'GET /api/lessons/{lessonId}/statistics'> = {},
    options?: RequestOptions,
  ) => http.json('GET /api/lessons/{lessonId}/statistics', { params: { lessonId }, query }, options),
  /** Creates a lesson with a draft of one step. */
  create: (lesson: Body<'POST /api/lessons'>, options?: CreateOptions) =>
    http.create('POST /api/lessons', { json: lesson }, options),
  /** Unpublishes all versions, and removes the lesson from lists. */
  delete: (lessonId: string, options?: RequestOptions) =>
    http.json('DELETE /api/lessons/{lessonId}', { params: { lessonId } }, options),
});

export const versions = (http: Http) => ({
  /** Reports why a version cannot be played, what is missing, and probable mistakes. */
  check: (lessonId: string, versionId: string, options?: RequestOptions) =>
    http.json(`GET ${oneVersion}/check`, { params: { lessonId, versionId } }, options),
  /** Returns what changed since an earlier version, by the ids of sections, steps and blocks. */
  compare: (lessonId: string, versionId: string, since: string, options?: RequestOptions) =>
    http.json(`GET ${oneVersion}/changes`, { params: { lessonId, versionId }, query: { since } }, options),
  /** Returns what became of each element of the file in another format that a version was imported from. */
  conversionReport: (lessonId: string, versionId: string, options?: RequestOptions) =>
    http.json(`GET ${oneVersion}/conversion-report`, { params: { lessonId, versionId } }, options),
  /** Creates a lesson with the content and the media of a version. */
  copy: (lessonId: string, versionId: string, title: string, options?: CreateOptions) =>
    http.create(`POST ${oneVersion}/copies`, { params: { lessonId, versionId }, json: { title } }, options),
  publish: (
    lessonId: string,
    versionId: string,
    { force, ...options }: RequestOptions & { force?: boolean } = {},
  ) =>
    http.json(`POST ${oneVersion}/publish`, { params: { lessonId, versionId }, query: { force } }, options),
  unpublish: (lessonId: string, versionId: string, options?: RequestOptions) =>
    http.json(`POST ${oneVersion}/unpublish`, { params: { lessonId, versionId } }, options),
  /** Returns a link that plays a version for an hour and records nothing. */
  createPreviewLink: (lessonId: string, versionId: string, options?: CreateOptions) =>
    http.create(`POST ${oneVersion}/preview-links`, { params: { lessonId, versionId } }, options),
});

/** The lesson that authors work on until they publish it. A `ConflictError` means that another author has saved. */
export const drafts = (http: Http) => ({
  /** Begins a draft with a version of the lesson: by default the newest one. */
  create: (lessonId: string, draft: Body<`POST ${typeof oneDraft}`> = {}, options?: CreateOptions) =>
    http.create(`POST ${oneDraft}`, { params: { lessonId }, json: draft }, options),
  retrieve: (lessonId: string, options?: RequestOptions) =>
    http.json(`GET ${oneDraft}`, { params: { lessonId } }, options),
  /** Saves sections and steps without their content. */
  save: (lessonId: string, saved: Body<`PUT ${typeof oneDraft}`>, options?: RequestOptions) =>
    http.json(`PUT ${oneDraft}`, { params: { lessonId }, json: saved }, options),
  retrieveStep: (lessonId: string, stepId: string, options?: RequestOptions) =>
    http.json(`GET ${oneDraft}/steps/{stepId}`, { params: { lessonId, stepId } }, options),
  saveStep: (
    lessonId: string,
    stepId: string,
    saved: Body<`PUT ${typeof oneDraft}/steps/{stepId}`>,
    options?: RequestOptions,
  ) => http.json(`PUT ${oneDraft}/steps/{stepId}`, { params: { lessonId, stepId }, json: saved }, options),
  /** Makes a version of the draft, and publishes it by default. Follow the returned import. */
  publish: (
    lessonId: string,
    publication: Body<`POST ${typeof oneDraft}/publish`> = {},
    options?: CreateOptions,
  ) => http.create(`POST ${oneDraft}/publish`, { params: { lessonId }, json: publication }, options),
  discard: (lessonId: string, options?: RequestOptions) =>
    http.json(`DELETE ${oneDraft}`, { params: { lessonId } }, options),
});

export const media = (http: Http) => ({
  /** Lists the files of the media library. */
  list: (query: Query<'GET /api/media'> = {}, options?: RequestOptions) =>
    list(http, 'GET /api/media', { query }, (page) => page.files, options),
  /** Returns a file, and where it is used. */
  retrieve: (fileId: string, options?: RequestOptions) =>
    http.json(`GET ${oneFile}`, { params: { fileId } }, options),
  update: (fileId: string, changes: Body<`PATCH ${typeof oneFile}`>, options?: RequestOptions) =>
    http.json(`PATCH ${oneFile}`, { params: { fileId }, json: changes }, options),
  /** Uses another file in drafts. */
  replace: (fileId: string, by: Body<`POST ${typeof oneFile}/replace`>, options?: RequestOptions) =>
    http.json(`POST ${oneFile}/replace`, { params: { fileId }, json: by }, options),
  /** Deletes a file that no version uses. */
  delete: (fileId: string, query: Query<`DELETE ${typeof oneFile}`> = {}, options?: RequestOptions) =>
    http.json(`DELETE ${oneFile}`, { params: { fileId }, query }, options),
});

export const imports = (http: Http) => {
  const isFinal = ({ endedAt }: LessonImport) => endedAt !== null;
  const followOne = (importId: string, options?: RequestOptions) =>
    follow(http, `GET ${oneImport}`, { params: { importId } }, isFinal, options);
  return {
    /** Uploads a package, a ZIP, and returns its import. The upload resumes after interruptions. */
    create: (zip: Blob, options?: ImportOptions) => upload(http, zip, options),
    /** Lists the newest imports. */
    list: (options?: RequestOptions) =>
      list(http, 'GET /api/lessons/imports', {}, (page) => page.imports, options),
    retrieve: (importId: string, options?: RequestOptions) =>
      http.json(`GET ${oneImport}`, { params: { importId } }, options),
    /** Yields the import at once and after each change, until it has ended. */
    follow: followOne,
    cancel: (importId: string, options?: RequestOptions) =>
      http.json(`DELETE ${oneImport}`, { params: { importId } }, options),
  };
};

/** The contents of an archive. All requests for one archive need the same query. */
export type ArchiveQuery = Query<`GET ${typeof oneVersion}/export-zip`>;

export const exports = (http: Http) => {
  const parts = (lessonId: string, versionId: string, query: ArchiveQuery): Parts => ({
    params: { lessonId, versionId },
    query,
  });
  return {
    /**
     * Downloads an archive into a file, and checks its SHA-256. After an interruption it resumes, even when you call it
     * again in another process. Needs Node.js, Deno or Bun.
     */
    download: (
      lessonId: string,
      versionId: string,
      { path, archive = {}, ...options }: DownloadOptions & { path: string; archive?: ArchiveQuery },
    ) => download(http, parts(lessonId, versionId, archive), path, options),
    /** Yields the bytes of an archive, and resumes after interruptions. Throws at the end if the SHA-256 is wrong. */
    async *stream(
      lessonId: string,
      versionId: string,
      { archive = {}, ...options }: DownloadOptions & { archive?: ArchiveQuery } = {},
    ) {
      const given = parts(lessonId, versionId, archive);
      yield* readArchive(http, given, { offset: 0, etag: null, hash: await sha256() }, options);
    },
    /** Asks Lectern to build an archive, and waits for it. */
    prepare: (
      lessonId: string,
      versionId: string,
      { archive = {}, ...options }: DownloadOptions & { archive?: ArchiveQuery } = {},
    ) => prepare(http, parts(lessonId, versionId, archive), options),
    status: (lessonId: string, versionId: string, archive: ArchiveQuery = {}, options?: RequestOptions) =>
      http.json(`GET ${oneVersion}/export-status`, parts(lessonId, versionId, archive), options),
    /** Yields the status of a build at once and after each change, until it has ended. */
    follow: (lessonId: string, versionId: string, archive: ArchiveQuery = {}, options?: RequestOptions) =>
      follow(
        http,
        `GET ${oneVersion}/export-status`,
        parts(lessonId, versionId, archive),
        isFinalExport,
        options,
      ),
    cancel: (lessonId: string, versionId: string, archive: ArchiveQuery = {}, options?: RequestOptions) =>
      http.json(`DELETE ${oneVersion}/export-status`, parts(lessonId, versionId, archive), options),
    /** Lists the builds of the last day, the newest first. */
    list: (query: Query<'GET /api/exports'> = {}, options?: RequestOptions) =>
      list(http, 'GET /api/exports', { query }, (page) => page.exports, options),
    /** Builds archives again, by the ids of the list. */
    retry: (ids: string[], options?: RequestOptions) =>
      http.once('POST /api/exports/retry', { json: { ids } }, options),
    /** Cancels builds, by the ids of the list. */
    cancelMany: (ids: string[], options?: RequestOptions) =>
      http.json('POST /api/exports/cancel', { json: { ids } }, options),
    /** Returns the files of an archive with signed URLs, to fetch single ones. */
    manifest: (lessonId: string, versionId: string, archive: ArchiveQuery = {}, options?: RequestOptions) =>
      http.json(`GET ${oneVersion}/export-manifest`, parts(lessonId, versionId, archive), options),
  };
};

export const progress = (http: Http) => ({
  retrieve: (lessonId: string, learnerId: string, options?: RequestOptions) =>
    http.json(
      'GET /api/public/lessons/{lessonId}/progress/{learnerId}',
      { params: { lessonId, learnerId } },
      options,
    ),
  /** Returns the progress of a user of an LTI platform. */
  retrieveLti: (
    lessonId: string,
    ltiUserId: string,
    query: Query<'GET /api/public/lessons/{lessonId}/lti-progress/{ltiUserId}'>,
    options?: RequestOptions,
  ) =>
    http.json(
      'GET /api/public/lessons/{lessonId}/lti-progress/{ltiUserId}',
      { params: { lessonId, ltiUserId }, query },
      options,
    ),
});

export const learners = (http: Http) => ({
  /** Lists the learners of a lesson, the latest activity first. */
  list: (lessonId: string, query: Query<`GET ${typeof ofLearners}`> = {}, options?: RequestOptions) =>
    list(http, `GET ${ofLearners}`, { params: { lessonId }, query }, (page) => page.learners, options),
  /** Yields all learners of a lesson as CSV. */
  csv: (lessonId: string, query: Query<`GET ${typeof ofLearners}.csv`> = {}, options?: RequestOptions) =>
    bytesOf(http, `GET ${ofLearners}.csv`, { params: { lessonId }, query }, options),
  /** Yields all learners of a lesson as NDJSON. */
  ndjson: (
    lessonId: string,
    query: Query<`GET ${typeof ofLearners}.ndjson`> = {},
    options?: RequestOptions,
  ) => bytesOf(http, `GET ${ofLearners}.ndjson`, { params: { lessonId }, query }, options),
  /** Yields the answers as CSV: a row for each learner, a column for each question. */
  answersCsv: (
    lessonId: string,
    query: Query<'GET /api/lessons/{lessonId}/answers.csv'> = {},
    options?: RequestOptions,
  ) => bytesOf(http, 'GET /api/lessons/{lessonId}/answers.csv', { params: { lessonId }, query }, options),
  /** Yields a ZIP with a learner's data. */
  export: (learnerId: string, options?: RequestOptions) =>
    bytesOf(http, 'GET /api/learners/{learnerId}/export', { params: { learnerId } }, options),
  /** Yields a ZIP with the data of a user of an LTI platform. */
  exportLti: (
    ltiUserId: string,
    query: Query<'GET /api/lti-learners/{ltiUserId}/export'>,
    options?: RequestOptions,
  ) => bytesOf(http, 'GET /api/lti-learners/{ltiUserId}/export', { params: { ltiUserId }, query }, options),
  /** Erases all data of a learner. With `dryRun: 'true'` it only counts. */
  erase: (
    learnerId: string,
    query: Query<'DELETE /api/learners/{learnerId}'> = {},
    options?: RequestOptions,
  ) => http.json('DELETE /api/learners/{learnerId}', { params: { learnerId }, query }, options),
  /** Erases all data of a user of an LTI platform. */
  eraseLti: (
    ltiUserId: string,
    query: Query<'DELETE /api/lti-learners/{ltiUserId}'>,
    options?: RequestOptions,
  ) => http.json('DELETE /api/lti-learners/{ltiUserId}', { params: { ltiUserId }, query }, options),
  retrieveErasure: (erasureId: string, options?: RequestOptions) =>
    http.json('GET /api/erasures/{erasureId}', { params: { erasureId } }, options),
});

export const retention = (http: Http) => ({
  retrieve: (options?: RequestOptions) => http.json('GET /api/retention', {}, options),
  /** Sets how long records of learners are kept. With `dryRun: 'true'` it only counts what would be removed. */
  set: (
    settings: Body<'PUT /api/retention'>,
    query: Query<'PUT /api/retention'> = {},
    options?: RequestOptions,
  ) => http.json('PUT /api/retention', { json: settings, query }, options),
});
