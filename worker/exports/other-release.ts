import { archiveFormatName } from '../../shared/exports/jobs.ts';
import type { ExportJob } from '../../shared/exports/jobs.ts';

/** A job that only workers of another release of Lectern can build. */
export class JobOfOtherRelease extends Error {
  override readonly name = 'JobOfOtherRelease';
}

/** @throws {JobOfOtherRelease} for a job whose archive this release would write in another way. */
export function checkFormat({ format }: ExportJob): void {
  if (format === archiveFormatName) return;
  throw new JobOfOtherRelease(`This worker writes archives of format ${archiveFormatName}, not ${format}`);
}
